"""What is known of items beside the user: how rare words are, and how often each item is chosen by anyone."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from afterwit.digest.terms import Rarity


@dataclass(frozen=True)
class Catalogue:
    """chosen: item id → times."""

    rarity: Rarity = field(default_factory=Rarity)
    chosen: Mapping[str, float] = field(default_factory=dict)

    @staticmethod
    def of(titles: Iterable[str], chosen: Iterable[str] = ()) -> "Catalogue":
        """titles: of every item once. chosen: an item id for each time that anyone chose it, from before whatever is
        to be predicted."""
        return Catalogue(Rarity.of(titles), Counter(chosen))
