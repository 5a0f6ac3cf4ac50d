"""Precision, recall and F1 of a field, as Zyte's product extraction benchmark counts them, with intervals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import numpy as np
from numpy.typing import NDArray

from afterwit.model import Interval, normalised
from afterwit.perceive.currencies import currency, same

RESAMPLES = 1_000

Match = Callable[[str, str], bool]


@dataclass(frozen=True, kw_only=True)
class Counts:
    """One page and field: right, wrong, missed. A wrong value where there is a right one is wrong and missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0


def count(true: Sequence[str], told: str | None, match: Match) -> Counts:
    if told is None:
        return Counts(missed=int(bool(true)))
    if any(match(one, told) for one in true):
        return Counts(right=1)
    return Counts(wrong=1, missed=int(bool(true)))


def scores(pages: Sequence[Counts], *, seed: int) -> Mapping[str, Interval]:
    """``precision`` = right / (right + wrong), ``recall`` = right / (right + missed), ``f1`` their harmonic mean, over
    all pages; 95 % intervals from a bootstrap of pages. n: pages whose field has a value (recall, F1), or got one."""
    table = np.array([(page.right, page.wrong, page.missed) for page in pages], dtype=float).reshape(-1, 3)
    draws = np.random.default_rng(seed).integers(0, max(len(table), 1), size=(RESAMPLES, len(table)))
    whole, drawn = _rates(table.sum(axis=0)), _rates(table[draws].sum(axis=1)) if len(table) else None
    told, true = int(table[:, :2].sum()), int(table[:, [0, 2]].sum())
    found: dict[str, Interval] = {}
    for place, (name, n) in enumerate((("precision", told), ("recall", true), ("f1", true))):
        low, high = (0.0, 1.0) if drawn is None else np.quantile(drawn[:, place], [0.025, 0.975])
        found[name] = Interval(value=float(whole[place]), low=float(low), high=float(high), n=n)
    return found


def _rates(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """sums: (..., 3) → precision, recall, F1; nothing told and nothing to tell is perfect."""
    right, wrong, missed = sums[..., 0], sums[..., 1], sums[..., 2]

    def share(of: NDArray[np.float64], idle: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.where(of > 0, right / np.maximum(of, 1), np.where(idle, 1.0, 0.0))

    idle = (wrong == 0) & (missed == 0)
    precision, recall = share(right + wrong, idle), share(right + missed, idle)
    f1 = np.where(right > 0, 2 * right / np.maximum(2 * right + wrong + missed, 1), np.where(idle, 1.0, 0.0))
    return np.stack([precision, recall, f1], axis=-1)


def same_price(true: str, told: str) -> bool:
    try:
        return Decimal(true) == Decimal(told)
    except InvalidOperation:
        return False


def same_currency(true: str, told: str) -> bool:
    """The truth is as printed, ``$`` or ``kr`` may be one of several."""
    return same(currency(true), currency(told) or told)


def same_name(true: str, told: str) -> bool:
    """Case, accents' encoding, spaces and marks aside: De’Longhi is DeLonghi."""
    return _bare(true) == _bare(told)


def _bare(text: str) -> str:
    return "".join(mark for mark in normalised(text) if mark.isalnum())


def same_word(true: str, told: str) -> bool:
    return true == told


MATCHES: Mapping[str, Match] = {
    "price": same_price,
    "currency": same_currency,
    "brand": same_name,
    "availability": same_word,
    "OutOfStock": same_word,
}
