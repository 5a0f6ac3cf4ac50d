"""What one evaluation found: one typed record that tables, plots and pages only read (design section 12)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from afterwit.errors import InputError
from afterwit.model import Card, Interval, Round


@dataclass(frozen=True, kw_only=True)
class RoundPoint:
    """A policy after one round. meg: on the tasks until the next round; so_far: on all tasks judged up to then;
    cards, tokens: of its bank; edits: cards that came, went or changed in this round."""

    at: datetime
    meg: Interval
    so_far: Interval
    cards: int
    tokens: int
    edits: int

    def as_json(self) -> dict[str, Any]:
        return {
            "at": self.at.isoformat(),
            "meg": self.meg.as_json(),
            "so_far": self.so_far.as_json(),
            "cards": self.cards,
            "tokens": self.tokens,
            "edits": self.edits,
        }


@dataclass(frozen=True, kw_only=True)
class EvaluationRecord:
    """One run of one benchmark.

    seconds: wall clock. data: role → ``sha256:…`` of the file. policies: policy or comparator → metric → figure.
    series: policy → one point a round. curves: metric → policy → one figure a step. leads: metrics that come first, in
    this order. plain: metrics that are no shares, so that they are not told in percent. cards: the bank of the policy
    under test as it was frozen; rounds: those that made it, oldest first. counts: what went in and what was left out.
    notes: one line each, for people.
    """

    benchmark: str
    version: str
    seed: int
    seconds: float
    data: Mapping[str, str]
    policies: Mapping[str, Mapping[str, Interval]]
    series: Mapping[str, tuple[RoundPoint, ...]] = field(default_factory=dict)
    curves: Mapping[str, Mapping[str, tuple[Interval, ...]]] = field(default_factory=dict)
    leads: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    cards: tuple[Card, ...] = ()
    rounds: tuple[Round, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The shape of design section 12; ``series``, ``curves``, ``bank``, ``counts``, ``notes`` come on top of it."""
        return {
            "benchmark": self.benchmark,
            "version": self.version,
            "seed": self.seed,
            "seconds": round(self.seconds, 1),
            "data": dict(self.data),
            "policies": {
                policy: {metric: figure.as_json() for metric, figure in figures.items()}
                for policy, figures in self.policies.items()
            },
            "series": {policy: [point.as_json() for point in points] for policy, points in self.series.items()},
            "curves": {
                metric: {policy: [one.as_json() for one in figures] for policy, figures in curves.items()}
                for metric, curves in self.curves.items()
            },
            "bank": [
                {
                    "id": card.id,
                    "guidance": card.guidance,
                    "stance": str(card.stance) if card.stance else None,
                    "when": str(card.when),
                    "status": card.status,
                    "effect": card.effect,
                    "tokens": card.tokens,
                }
                for card in self.cards
            ],
            "counts": dict(self.counts),
            "notes": list(self.notes),
        }


def sha256_of(path: Path) -> str:
    """``sha256:…`` of a file's bytes. Raises InputError where it cannot be read."""
    try:
        with path.open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
