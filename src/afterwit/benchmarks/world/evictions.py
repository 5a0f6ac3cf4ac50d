"""Were the cards that left bad ones? What the truth says of every card that was ever live, by how it ended.

A card is noise at a moment where it names no way to write a message, where what it advises has an effect of at most δ
there (δ = 0.02 log rate ratio, the width of a null effect), or where another card that stays gives the same advice
wherever this one does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from afterwit.benchmarks.world.agent import advice
from afterwit.benchmarks.world.truth import Truth
from afterwit.model import Card

NULL = 0.02


@dataclass(frozen=True, kw_only=True)
class Evictions:
    """Cards that were evicted or expired, and cards that stayed to the end, each noise or good."""

    noise_left: int
    good_left: int
    noise_stayed: int
    good_stayed: int

    def __add__(self, other: "Evictions") -> "Evictions":
        return Evictions(
            noise_left=self.noise_left + other.noise_left,
            good_left=self.good_left + other.good_left,
            noise_stayed=self.noise_stayed + other.noise_stayed,
            good_stayed=self.good_stayed + other.good_stayed,
        )

    @property
    def left(self) -> int:
        return self.noise_left + self.good_left

    @property
    def p_value(self) -> float:
        """Fisher's exact test, one-sided: that what leaves is no likelier to be noise than what stays."""
        table = np.array([[self.noise_left, self.good_left], [self.noise_stayed, self.good_stayed]])
        return float(stats.fisher_exact(table, alternative="greater").pvalue)


def is_noise(card: Card, beside: Sequence[Card], truth: Truth, era: int) -> bool:
    """beside: the cards that stay."""
    said = advice(card)
    if said is None or truth.merit(said, card.when, era) <= NULL:
        return True
    where = truth.holding(card.when)
    same = [other for other in beside if other.id != card.id and advice(other) == said]
    return any((truth.holding(other.when) >= where).all() for other in same)


def evictions(banks: Sequence[Sequence[Card]], left: Sequence[Sequence[Card]], truth: Truth) -> tuple[Evictions, float]:
    """The count over one run, and the mean share of noise in the banks that the updates found.

    banks: the initial one, and after each update; left: of each update, what was evicted or expired.
    """
    noise = good = 0
    shares = []
    for update, gone in enumerate(left):
        era, after = truth.era(update), banks[update + 1]
        for card in gone:
            bad = is_noise(card, after, truth, era)
            noise, good = noise + bad, good + (not bad)
        before = banks[update]
        shares.append(sum(is_noise(card, before, truth, era) for card in before) / max(len(before), 1))
    last = [is_noise(card, banks[-1], truth, truth.era(len(left))) for card in banks[-1]]
    found = Evictions(noise_left=noise, good_left=good, noise_stayed=sum(last), good_stayed=len(last) - sum(last))
    return found, sum(shares) / max(len(shares), 1)
