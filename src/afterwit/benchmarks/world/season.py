"""What a world's log teaches, update by update: the real temporal and semantic credit, on the simulated log.

What is known of a round's deliveries no longer moves two rounds later, so each update reads the events of the last two
rounds alone and keeps what it knew of older ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from afterwit.benchmarks.world.log import SCOPE, Sent, ends, rounds, written
from afterwit.benchmarks.world.parameters import Parameters
from afterwit.benchmarks.world.truth import Truth
from afterwit.credit.items import Items, Objects, moment
from afterwit.credit.temporal.deliveries import DeliveryTable
from afterwit.credit.temporal.lifecycle import Lifecycles, lifecycles
from afterwit.decisions.extraction import Extractor, MiningRules
from afterwit.evaluate.policies.protocol import Known, Setting
from afterwit.evaluate.replay import ItemStream, study
from afterwit.evolve.rules import EvolveRules
from afterwit.ports import Capacity, EventLog

OBJECTIVE = "conversion"
TOKENS_A_CARD = 60
Credit = Literal["all", "no_temporal", "no_semantic"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Season:
    """items: as they were known at each update, from the end of the warm-up on; immature: the same without temporal
    credit, where everything that was shown counts at once. sent: what was delivered, by round."""

    truth: Truth
    seed: int
    items: tuple[Items, ...]
    immature: tuple[Items, ...]
    sent: tuple[Sent, ...]

    @property
    def setting(self) -> Setting:
        room = self.truth.parameters.memory.capacity
        return Setting(
            scope=SCOPE,
            seed=self.seed,
            rules=EvolveRules(capacity=Capacity(cards=room, tokens=TOKENS_A_CARD * room), card_tokens=TOKENS_A_CARD),
        )

    @property
    def extractor(self) -> Extractor:
        return Extractor(rules=MiningRules(mine=False))

    def known(self, credit: Credit = "all") -> tuple[Known, ...]:
        """What each update may learn from. no_semantic: controls are drawn at random, not matched."""
        found: list[Known] = []
        extractor = self.extractor
        for place, items in enumerate(self.immature if credit == "no_temporal" else self.items):
            known = items
            if credit == "no_semantic":
                drawn = np.random.default_rng([self.seed, 4, place]).permutation(items.strata)
                known = replace(items, strata=drawn)
            found.append(
                study(
                    ItemStream(items=known),
                    ends(self.truth, place),
                    extractor,
                    objective=OBJECTIVE,
                    earlier=found[-1] if found else None,
                )
            )
        return tuple(found)


def season(
    parameters: Parameters, seed: int, log: EventLog, *, last: int | None = None, immature: bool = False
) -> Season:
    """Writes the log of a world and credits it. log: an empty one. last: the last update; all but the one after the
    last round where it is None. immature: also what would be known without temporal credit."""
    truth = Truth.make(parameters, seed)
    final = parameters.memory.rounds - 1 if last is None else last
    sent, ripe, early = _credited(truth, log, seed, final, immature)
    return Season(truth=truth, seed=seed, items=ripe, immature=early, sent=sent)


def _credited(
    truth: Truth, log: EventLog, seed: int, final: int, immature: bool
) -> tuple[tuple[Sent, ...], tuple[Items, ...], tuple[Items, ...]]:
    sent: list[Sent] = []
    for round_, part in zip(rounds(truth), written(truth, log, seed), strict=False):
        sent.append(part)
        if round_ >= final:
            break
    table = DeliveryTable.of(delivery for part in sent for delivery in part.deliveries)
    events = log.table(SCOPE)
    ripe: list[Items] = []
    early: list[Items] = []
    settled: Items | None = None
    for round_ in range(final + 1):
        start = ends(truth, round_ - 2 if round_ else -truth.parameters.memory.warm_up)
        inside = (table.created_at >= moment(start)) & (table.created_at < moment(ends(truth, round_)))
        found = lifecycles(
            events.filter(events["at"] >= start), _taken(table, np.flatnonzero(inside)), ends(truth, round_)
        )
        now = found.items()
        ripe.append(now if settled is None else joined(settled, now))
        if immature:
            shown = _at_once(found).items()
            early.append(shown if settled is None else joined(settled, shown))
        done = now.take(now.first_delivered_at < moment(ends(truth, round_ - 1)))
        settled = done if settled is None else joined(settled, done)
    return tuple(sent), tuple(ripe), tuple(early)


def _taken(table: DeliveryTable, rows: NDArray[np.int64]) -> DeliveryTable:
    columns: dict[str, object] = {}
    for field in fields(table):
        value = getattr(table, field.name)
        if isinstance(value, np.ndarray):
            columns[field.name] = value[rows]
        elif isinstance(value, Mapping):
            columns[field.name] = {name: column[rows] for name, column in value.items()}
    return replace(table, **columns)  # type: ignore[arg-type]


def _at_once(found: Lifecycles) -> Lifecycles:
    """Whatever was shown at all counts, as it stands."""
    verdict: Objects = found.verdict.copy()
    verdict[found.exposures > 0] = "ready"
    verdict[found.exposures <= 0] = "thin"
    return replace(
        found,
        verdict=verdict,
        why=np.full(len(verdict), "", dtype=np.object_),
        available_at=np.minimum(found.available_at, moment(found.as_of)),
    )


def joined(one: Items, other: Items) -> Items:
    """The items of both, whose stratum codes are of one table."""

    def both(name: str) -> object:
        return np.concatenate((getattr(one, name), getattr(other, name)))

    columns: dict[str, object] = {
        field.name: both(field.name) for field in fields(one) if isinstance(getattr(one, field.name), np.ndarray)
    }
    for name in ("engagements", "contexts"):
        first, second = getattr(one, name), getattr(other, name)
        columns[name] = {
            key: np.concatenate((_column(first, key, len(one)), _column(second, key, len(other))))
            for key in sorted(first.keys() | second.keys())
        }
    return Items(**columns)  # type: ignore[arg-type]


def _column(columns: Mapping[str, NDArray[Any]], key: str, n: int) -> NDArray[Any]:
    """Nobody converted in a part: zeros."""
    return columns.get(key, np.zeros(n))
