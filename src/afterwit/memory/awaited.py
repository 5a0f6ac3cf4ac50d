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

    ``episode`` and ``profile`` are the exceptions: they open at once. A recorder is used as it is, since recording is a
    few local writes.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.memory = Memory(*arguments, **named)
        self.episode = self.memory.episode
        self.profile = self.memory.profile
        self.render = self.memory.render

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.memory.close()


for _name in dir(Memory):
    if not _name.startswith("_") and callable(getattr(Memory, _name)) and _name not in ("episode", "profile", "render"):
        setattr(AsyncMemory, _name, _awaitable(getattr(Memory, _name)))
