"""One card from what several senses say. Each value that any of them gives is a candidate; a conditional logit over the
candidates of a field, and none of them, settles a disagreement by the evidence, and its probability is the confidence.
The weights in weights.json were fitted on pages with known answers (docs/adr), none by hand."""

import json
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from afterwit.model.page import Claim, ItemCard, Sense
from afterwit.perceive.candidates import FIELDS, Candidate, Candidates, context
from afterwit.perceive.reading import Reading
from afterwit.perceive.words import folded

Weights = Mapping[str, Mapping[str, float]]
"""Field → evidence → weight in the logit."""

_UNFITTED = ("title", "was", "rating", "description", "images")


@cache
def weights() -> Weights:
    table: Weights = json.loads(files("afterwit.perceive").joinpath("weights.json").read_text(encoding="utf-8"))
    return table


def fused(readings: Sequence[Reading], *, by: Weights | None = None) -> ItemCard:
    """readings: in the order in which they are believed about what no weights are fitted for. Raises ValueError for
    none."""
    if not readings:
        raise ValueError("no sense was asked: give one reading at least")
    by = weights() if by is None else by
    told: dict[str, Any] = {"title": ""}
    claims: list[Claim] = []
    for field, candidates in FIELDS.items():
        claim, value = _settled(field, candidates(readings), readings, by[field])
        if claim is not None:
            told[field] = Decimal(value) if field == "price" else value
            claims.append(claim)
    for field in _UNFITTED:
        claim, found = _first(field, readings)
        if claim is not None and not (field == "was" and not _dearer(found, told.get("price"))):
            told[field] = found
            claims.append(claim)
    held = tuple(dict.fromkeys(concern for reading in readings for concern in reading.card.concerns))
    order = {name: place for place, name in enumerate(("title", *FIELDS, *_UNFITTED[1:]))}
    claims.sort(key=lambda claim: order[claim.field])
    return ItemCard(**told, source=readings[-1].card.source, concerns=held, claims=tuple(claims))


def _dearer(was: Any, now: Decimal | None) -> bool:
    return now is not None and was > now


def probabilities(candidates: Candidates, none: Mapping[str, float], by: Mapping[str, float]) -> list[float]:
    """Of each candidate in turn, then of none of them: exp(Σ w·x) over the sum of all."""
    scores = [_score(candidate.evidence, by) for candidate in candidates] + [_score(none, by)]
    highest = max(scores)
    powers = [math.exp(score - highest) for score in scores]
    return [power / sum(powers) for power in powers]


def _score(evidence: Mapping[str, float], by: Mapping[str, float]) -> float:
    return sum(by.get(name, 0.0) * strength for name, strength in evidence.items())


def _settled(
    field: str, candidates: Candidates, readings: Sequence[Reading], by: Mapping[str, float]
) -> tuple[Claim | None, str]:
    """The likeliest candidate, unless none of them is likelier."""
    if not candidates:
        return None, ""
    chances = probabilities(candidates, context(readings), by)
    best = max(range(len(candidates)), key=lambda place: chances[place])
    if chances[-1] > chances[best]:
        return None, ""
    chosen = candidates[best]
    claim = Claim(
        field=field,
        senses=chosen.senses,
        because=tuple(name for name, strength in chosen.evidence.items() if strength > 0 and by.get(name, 0.0) > 0),
        confidence=round(chances[best], 3),
        against=tuple(_against(chosen, candidates)),
    )
    return claim, chosen.value


def _against(chosen: Candidate, candidates: Candidates) -> list[tuple[Sense, str]]:
    return [(sense, other.value) for other in candidates if other is not chosen for sense in other.senses]


def _first(field: str, readings: Sequence[Reading]) -> tuple[Claim | None, Any]:
    """The first sense that has it; those that say the same are named with it."""
    told = [(reading.sense, value) for reading in readings if (value := getattr(reading.card, field))]
    if not told:
        return None, None
    sense, value = told[0]
    same = [other for other, given in told[1:] if _alike(value, given)]
    differ = [(other, str(given)[:80]) for other, given in told[1:] if not _alike(value, given)]
    shown = field in ("was", "rating", "title")
    return Claim(field=field, senses=(sense, *same), against=tuple(differ) if shown else ()), value


def _alike(one: object, other: object) -> bool:
    return folded(one) == folded(other) if isinstance(one, str) and isinstance(other, str) else one == other
