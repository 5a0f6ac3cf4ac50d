"""What a field of the card may be, by any sense, with what speaks for and against each value: the evidence that
`fusion` weighs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from afterwit.model.page import ItemCard, Sense
from afterwit.perceive.currencies import SHARED, same
from afterwit.perceive.reading import Quote, Reading
from afterwit.perceive.words import folded

_WORST = -4.0


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """value: as it is told. evidence: name → strength; 1 for what is there or not. senses: those whose card says it."""

    value: str
    evidence: Mapping[str, float]
    senses: tuple[Sense, ...] = ()


Candidates = Sequence[Candidate]


def prices(readings: Sequence[Reading]) -> Candidates:
    """What a sense chose, and what metadata gives first in any of its places; whether the other senses show it too."""
    values: dict[Decimal, None] = {}
    for reading in readings:
        chosen = [reading.card.price] if reading.card.price is not None else []
        marked = [quote.value for quote in reading.quotes if quote.main and reading.sense == "metadata"]
        values |= dict.fromkeys((*chosen, *marked))
    return [_priced(value, readings) for value in values]


def _priced(value: Decimal, readings: Sequence[Reading]) -> Candidate:
    evidence: dict[str, float] = {}
    for reading in readings:
        quotes = [quote for quote in reading.quotes if quote.value == value]
        if reading.sense == "metadata":
            evidence |= dict.fromkeys((_place(quote) for quote in quotes), 1.0)
        else:
            evidence |= _shown(reading, quotes, value)
    senses = tuple(reading.sense for reading in readings if reading.card.price == value)
    return Candidate(value=str(value), evidence=evidence, senses=senses)


def _place(quote: Quote) -> str:
    if quote.old:
        return "metadata: earlier price"
    if not quote.main:
        return "metadata: another"
    return "metadata: scripts" if quote.place in ("state", "attribute") else "metadata: markup"


def _shown(reading: Reading, quotes: Sequence[Quote], value: Decimal) -> dict[str, float]:
    """How far behind the amount that the sense would choose; it is no evidence in itself to be chosen, as a sense that
    hardly knows what to choose chooses all the same."""
    sense = reading.sense
    if reading.card.price == value:
        return {}
    if reading.card.price is None:
        return {f"{sense}: silent": 1.0}
    if not quotes:
        away = {} if value in reading.numbers else {f"{sense}: not shown": 1.0}
        return {f"{sense}: behind": _WORST} | away
    best = max(quote.score for quote in reading.quotes)
    behind = {f"{sense}: behind": max(_WORST, max(quote.score for quote in quotes) - best)}
    return behind | ({"earlier price": 1.0} if all(quote.old for quote in quotes) else {})


def currencies(readings: Sequence[Reading]) -> Candidates:
    """A sign that several countries use supports the code of each, and the code is told."""
    told = [(reading.sense, reading.card.currency) for reading in readings if reading.card.currency]
    codes = sorted({code for _, code in told if code}, key=lambda code: code in SHARED)
    kept = [code for place, code in enumerate(codes) if not any(same(code, other) for other in codes[:place])]
    found: list[Candidate] = []
    for code in kept:
        senses = tuple(sense for sense, other in told if same(code, other))
        found.append(Candidate(value=code, evidence=dict.fromkeys(senses, 1.0), senses=senses))
    return found


def brands(readings: Sequence[Reading]) -> Candidates:
    """Of those that scripts name, the ones that stand in a title."""
    titles = " | ".join(folded(reading.card.title) for reading in readings)
    names: dict[str, str] = {}
    for reading in readings:
        likely = [name for name in reading.names if folded(name) in titles]
        for name in (reading.card.brand, *sorted(likely, key=lambda name: -reading.names[name])[:3]):
            if name and any(mark.isalpha() for mark in name):
                names.setdefault(bare(name), name)
    found: list[Candidate] = []
    for key, name in names.items():
        saying = [reading for reading in readings if reading.card.brand and bare(reading.card.brand) == key]
        senses = tuple(reading.sense for reading in saying)
        evidence = {f"shown {reading.maker}" if reading.maker else str(reading.sense): 1.0 for reading in saying}
        if any(bare(other) == key for reading in readings for other in reading.names):
            evidence["metadata: in scripts"] = 1.0
        found.append(Candidate(value=name, evidence=evidence, senses=senses))
    return found


def availabilities(readings: Sequence[Reading]) -> Candidates:
    found: list[Candidate] = []
    for value in ("in stock", "out of stock"):
        senses = tuple(reading.sense for reading in readings if reading.card.availability == value)
        evidence = {f"{sense}: {value}": 1.0 for sense in senses}
        found.append(Candidate(value=value, evidence=evidence, senses=senses))
    return found if any(candidate.senses for candidate in found) else []


def bare(text: str) -> str:
    """Letters and digits alone: De’Longhi is DELONGHI."""
    return "".join(mark for mark in folded(text) if mark.isalnum())


FIELDS: Mapping[str, Callable[[Sequence[Reading]], Candidates]] = {
    "price": prices,
    "currency": currencies,
    "brand": brands,
    "availability": availabilities,
}


def context(readings: Sequence[Reading]) -> Mapping[str, float]:
    """What speaks for none of the values: that the item is gone, by what its senses say."""
    return {"none": 1.0} | {f"none: {name} out of stock": 1.0 for name in _gone(readings)}


def _gone(readings: Sequence[Reading]) -> Iterator[Sense]:
    return (reading.sense for reading in readings if reading.card.availability == "out of stock")


def cards(readings: Sequence[Reading]) -> Mapping[Sense, ItemCard]:
    return {reading.sense: reading.card for reading in readings}
