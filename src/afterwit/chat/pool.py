"""Many requests at once, a bounded number at a time."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from afterwit.errors import ModelError

T = TypeVar("T")
R = TypeVar("R")


def each(call: Callable[[T], R], items: Sequence[T], *, workers: int = 4) -> tuple[R | ModelError, ...]:
    """call(item) for every item, in the order of the items; where the model failed, its error stands in the place.

    call: a chat, for asks, or anything that asks one. Errors that are no ModelError are bugs: the first is raised and
    what has not begun is dropped.
    """

    def one(item: T) -> R | ModelError:
        try:
            return call(item)
        except ModelError as error:
            return error

    if workers <= 1 or len(items) <= 1:
        return tuple(one(item) for item in items)
    pool = ThreadPoolExecutor(max_workers=min(workers, len(items)), thread_name_prefix="afterwit-chat")
    try:
        return tuple(pool.map(one, items))
    finally:
        pool.shutdown(cancel_futures=True)
