"""Many requests at once."""

import threading

import pytest

from afterwit.chat.pool import each
from afterwit.errors import ModelError, OutputError, ProviderError


def test_results_stand_in_the_order_of_the_items_whatever_ends_first() -> None:
    last_done = threading.Event()

    def call(item: int) -> int:
        if item == 0:
            last_done.wait(10)
        if item == 3:
            last_done.set()
        return item * 10

    assert each(call, range(4), workers=2) == (0, 10, 20, 30)


def test_an_error_of_the_model_stands_in_the_place_of_its_item() -> None:
    errors: dict[int, ModelError] = {1: ProviderError("down"), 3: OutputError("cut", "it ends")}

    def call(item: int) -> str:
        if item in errors:
            raise errors[item]
        return "ok"

    for workers in (1, 3):
        assert each(call, range(4), workers=workers) == ("ok", errors[1], "ok", errors[3])


def test_any_other_error_is_a_bug_and_is_raised() -> None:
    def call(item: int) -> int:
        return 1 // (2 - item)

    for workers in (1, 3):
        with pytest.raises(ZeroDivisionError):
            each(call, range(40), workers=workers)


def test_no_more_run_at_once_than_workers_and_that_many_do() -> None:
    lock, here, most = threading.Lock(), [0], [0]
    three = threading.Barrier(3)

    def call(item: int) -> None:
        with lock:
            here[0] += 1
            most[0] = max(most[0], here[0])
        three.wait(10)  # passes only where three run at once
        with lock:
            here[0] -= 1

    each(call, range(12), workers=3)
    assert most == [3]


def test_nothing_to_do_is_done_at_once() -> None:
    assert each(lambda item: item, []) == ()
