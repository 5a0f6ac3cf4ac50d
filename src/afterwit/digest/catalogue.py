"""What is known of items beside the user: how rare words are, how often each is chosen, and what goes with what."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from afterwit.digest.terms import Rarity
from afterwit.digest.together import Together, key
from afterwit.digest.weighing import commonness
from afterwit.model import content_hash

SAMPLED = 30


@dataclass(frozen=True)
class Catalogue:
    """chosen: item id → times. together: None where no histories are known. sample: ids and titles of some items, by
    hash, as items at random look. usual: mean commonness of what anyone chose. by_title: times of each title, as
    compared."""

    rarity: Rarity = field(default_factory=Rarity)
    chosen: Mapping[str, float] = field(default_factory=dict)
    together: Together | None = None
    sample: tuple[tuple[str, str], ...] = ()
    usual: float = 0.0
    by_title: Mapping[str, float] = field(default_factory=dict)

    @staticmethod
    def of(
        items: Mapping[str, str] | Iterable[str],
        chosen: Iterable[str] = (),
        *,
        histories: Iterable[Sequence[str]] = (),
    ) -> "Catalogue":
        """items: id → title, or titles alone, of every item once. chosen: an item id for each time that anyone chose
        it, where no histories are known. histories: item ids of one user each, oldest first. Both from before whatever
        is to be predicted."""
        if not isinstance(items, Mapping):
            return Catalogue(Rarity.of(items), Counter(chosen))
        known = [tuple(history) for history in histories]
        times = Counter(chosen) + Counter(id_ for history in known for id_ in history)
        by_title: Counter[str] = Counter()
        for id_, title in items.items():
            by_title[key(title)] += times[id_]
        each = np.array([times[id_] for id_ in items], dtype=np.float64)
        return Catalogue(
            rarity=Rarity.of(items.values()),
            chosen=times,
            together=Together.of(items, known) if known else None,
            sample=tuple(sorted(items.items(), key=lambda one: content_hash("sample", one[0]))[:SAMPLED]),
            usual=float(each @ commonness(each) / max(each.sum(), 1.0)),
            by_title=by_title,
        )

    def times(self, title: str) -> float:
        """How often any item of this title was chosen by anyone."""
        return self.by_title.get(key(title), 0.0)
