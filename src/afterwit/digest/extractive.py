"""The writer without a model: counts with recency, brands, prices, dated evidence, and what changed lately.

Our reconstruction of what ReMem's trained writer keeps; deterministic, and linear in the interactions of a chunk.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from afterwit.digest.chunk import Chunk, Count
from afterwit.digest.constraints import Constraint, kept
from afterwit.digest.sketch import HALF_LIFE, TALLIES, Prices, Sketch, Tally, read, sections, written
from afterwit.digest.terms import Rarity, words
from afterwit.model import Interaction

_SHARE = 0.45  # of the room that tallies may take; evidence has the rest
_CHANGES = 6
_RECENT = 10  # interactions whose evidence stands before any tally


@dataclass(frozen=True, kw_only=True)
class Extractive:
    """rarity: of words in the catalogue, so that interests are what tells this user from others."""

    rarity: Rarity = field(default_factory=Rarity)
    name: str = "extractive"

    def __call__(
        self, query: str, text: str, chunk: Chunk, *, budget: int, constraints: Sequence[Constraint], count: Count
    ) -> str:
        """The text that follows from the last one and a chunk, within the budget. ``query`` changes nothing here:
        counts serve any question."""
        sketch = self._grown(read(text), chunk.interactions)
        return self._fitted(sketch, budget, constraints, count)

    def _grown(self, sketch: Sketch, history: Sequence[Interaction]) -> Sketch:
        n = len(history)
        faded = 0.5 ** (n / HALF_LIFE)
        tallies = {
            section: {name: replace(t, weight=t.weight * faded) for name, t in sketch.tally(section).items()}
            for section in TALLIES
        }
        prices = dict(sketch.prices)
        for place, interaction in enumerate(history):
            weight = 0.5 ** ((n - 1 - place) / HALF_LIFE)
            day = interaction.day
            named = {
                "Interests": set(words(interaction.title)),
                "Brands": _attribute(interaction, "brand"),
                "Categories": _attribute(interaction, "category"),
            }
            for section, names in named.items():
                for name in sorted(names):
                    tallies[section][name] = _more(tallies[section].get(name), name, weight, day)
            _price(prices, interaction)
        days = [interaction.day for interaction in history if interaction.at]
        evidence = [_evidence(interaction) for interaction in reversed(history)]
        grown = replace(
            sketch,
            interactions=sketch.interactions + n,
            first=min([sketch.first, *days] if sketch.first else days, default=""),
            last=max([sketch.last, *days], default=""),
            tallies=tallies,
            prices=prices,
            evidence=(*evidence, *sketch.evidence),
        )
        return replace(grown, changed=self._changes(grown))

    def _changes(self, sketch: Sketch) -> tuple[str, ...]:
        """What of late is half as common again as ever, and what was common and is gone."""
        lately = (1 - 0.5 ** (sketch.interactions / HALF_LIFE)) / (1 - 0.5 ** (1 / HALF_LIFE))
        if sketch.interactions < 2 * HALF_LIFE:
            return ()
        more, less = [], []
        for tally in sketch.tally("Interests").values():
            now, ever = tally.weight / lately, tally.times / sketch.interactions
            if now >= 1.5 * ever and now >= 0.25:
                more.append((now * self.rarity(tally.name), tally.name))
            elif ever >= 0.15 and now < ever / 4:
                less.append((ever * self.rarity(tally.name), tally.name))
        found = [f"more: {name}" for _, name in sorted(more, key=_first)[:_CHANGES]]
        return (*found, *(f"less: {name}" for _, name in sorted(less, key=_first)[:_CHANGES]))

    def _fitted(self, sketch: Sketch, budget: int, constraints: Sequence[Constraint], count: Count) -> str:
        """Notes, changes and prices first, then the newest evidence, then tallies within their share, then the rest of
        the evidence."""
        ordered = {name: self._ordered(sketch.tally(name)) for name in TALLIES}
        parts = {name: kept(lines, constraints) for name, lines in sections(replace(sketch, tallies=ordered))}
        room = budget - count(written([(name, []) for name in parts])) - sum(count(f"## {name}\n") for name in parts)
        chosen: dict[str, list[str]] = {name: [] for name in parts}
        for name in ("", "Notes", "Changed lately", "Prices"):
            room = _take(chosen[name], parts[name], room, count)
        room = _take(chosen["Evidence"], parts["Evidence"][:_RECENT], room, count)
        share = int(_SHARE * room)
        for name, part in (("Categories", 0.15), ("Brands", 0.2), ("Interests", 1.0)):
            given = int(part * share)
            left = _take(chosen[name], parts[name], given, count)
            share, room = share - given + left, room - given + left
        room = _take(chosen["Evidence"], parts["Evidence"][len(chosen["Evidence"]) :], room, count)
        for name in ("Interests", "Brands", "Categories"):
            room = _take(chosen[name], parts[name][len(chosen[name]) :], room, count)
        return written([(name, chosen[name]) for name in parts])

    def _ordered(self, tallies: Mapping[str, Tally]) -> dict[str, Tally]:
        """Rare words of late first; a long-standing interest counts by the root of its times."""

        def key(tally: Tally) -> tuple[float, str]:
            said = max((self.rarity(word) for word in words(tally.name)), default=1.0)
            return -said * (tally.weight + tally.times**0.5), tally.name

        return {tally.name: tally for tally in sorted(tallies.values(), key=key)}


def _take(chosen: list[str], lines: Sequence[str], room: int, count: Count) -> int:
    """Takes lines in order while there is room; the room that is left."""
    for line in lines:
        size = count(line) + 1
        if size > room:
            break
        chosen.append(line)
        room -= size
    return room


def _more(tally: Tally | None, name: str, weight: float, day: str) -> Tally:
    if tally is None:
        return Tally(name=name, times=1, weight=weight, last=day)
    return Tally(name=name, times=tally.times + 1, weight=tally.weight + weight, last=max(tally.last, day))


def _attribute(interaction: Interaction, name: str) -> set[str]:
    value = interaction.attributes.get(name)
    return {" ".join(str(value).split())} if value not in (None, "") else set()


def _price(prices: dict[str, Prices], interaction: Interaction) -> None:
    value = interaction.attributes.get("price")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        return
    currency = str(interaction.attributes.get("currency") or "price").replace(" ", "")
    known = prices.get(currency)
    if known is None:
        prices[currency] = Prices(currency=currency, low=value, high=value, mean=value, n=1, lately=value)
        return
    fresh = 1 - 0.5 ** (1 / HALF_LIFE)
    prices[currency] = Prices(
        currency=currency,
        low=min(known.low, value),
        high=max(known.high, value),
        mean=known.mean + (value - known.mean) / (known.n + 1),
        n=known.n + 1,
        lately=known.lately + fresh * (value - known.lately),
    )


def _evidence(interaction: Interaction) -> str:
    """Without the long text: a line of evidence says what and when."""
    rating = interaction.attributes.get("rating")
    stars = f" · rated {rating}" if rating is not None else ""
    return replace(interaction, text="", attributes={}).told() + stars


_first: Callable[[tuple[float, str]], tuple[float, str]] = lambda pair: (-pair[0], pair[1])  # noqa: E731
