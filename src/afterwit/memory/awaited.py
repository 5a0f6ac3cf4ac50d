"""`AsyncMemory`, derived from `Memory`."""

import asyncio
from functools import wraps
from typing import Any, Self

from afterwit.memory.face import Memory


def _awaitable(method: Any) -> Any:
    @wraps(method)
    async def call(self: "AsyncMemory", *arguments: Any, **named: Any) -> Any:
        return await asyncio.to_thread(method, self.memory, *arguments, **named)

    return call


class AsyncMemory:
    """`Memory` for asyncio: the same methods, awaited; each runs in a worker thread.

    ``episode`` is the exception: it opens at once, and its recorder is used as it is, since recording is a few
    local writes.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.memory = Memory(*arguments, **named)
        self.episode = self.memory.episode
        self.render = self.memory.render

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.memory.close()


for _name in (
    "add",
    "approve",
    "cards",
    "check",
    "close",
    "delete",
    "diff",
    "evolve",
    "export",
    "forget",
    "get",
    "history",
    "ingest",
    "rollback",
    "rounds",
    "search",
    "update",
):
    setattr(AsyncMemory, _name, _awaitable(getattr(Memory, _name)))
