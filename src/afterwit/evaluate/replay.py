"""Temporal replay: policies live through a stream of experiments in rounds, and later work alone judges them.

At each round only what was available is learned from; the tasks created from then until the next round judge the banks
as they stand. Two checks hold whatever the stream does (law 3): `refuse_unavailable` on what an update learns from,
`refuse_known` on what judges it. Availability is compared, not creation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

import numpy as np

from afterwit.credit.items import Bools, Design, Floats, Ints, Items, moment
from afterwit.credit.semantic.assess import assess
from afterwit.credit.semantic.change import current
from afterwit.credit.semantic.evidence import EvidenceTable
from afterwit.decisions.extraction import Extractor
from afterwit.errors import LeakageError
from afterwit.evaluate.metrics.tokens import tokens
from afterwit.evaluate.policies.append_only import AppendOnly
from afterwit.evaluate.policies.protocol import Known, Policy, Setting
from afterwit.evaluate.tasks import Shown, Tasks, bank_scores
from afterwit.model import Card
from afterwit.ports import Progress

WEEK = timedelta(days=7)


class Stream(Protocol):
    def known(self, as_of: datetime) -> Items:
        """The items whose outcomes were available then."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemStream:
    """A stream over items that lie ready with the time when each became available."""

    items: Items

    def known(self, as_of: datetime) -> Items:
        return self.items.take(self.items.available_at <= moment(as_of))


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A policy's bank as it left a round: cards and tokens, and how many cards came, went or changed."""

    cards: int
    tokens: int
    edits: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Replayed:
    """rounds: their times. stages: policy → one a round. window: the round that each task judged, −1 for none; (G,).
    utilities: policy → U per task, nan where it judged nothing. known: what the last round learned from."""

    rounds: tuple[datetime, ...]
    stages: dict[str, tuple[Stage, ...]]
    window: Ints
    utilities: dict[str, Floats]
    known: Known


def weekly(first: datetime, freeze: datetime, *, every: timedelta = WEEK) -> tuple[datetime, ...]:
    """Round times: every week after the first creation, and the freeze."""
    times = []
    at = first + every
    while at < freeze:
        times.append(at)
        at += every
    return (*times, freeze)


def refuse_unavailable(items: Items, as_of: datetime) -> None:
    """Raises LeakageError naming the first item whose outcome was not available at the update."""
    late = np.flatnonzero(items.available_at > moment(as_of))
    if len(late):
        i = late[0]
        raise LeakageError(
            f"item {items.ids[i]} is available at {items.available_at[i]}Z, after the update as of "
            f"{as_of.isoformat()} that would learn from it: leave it out or move the update"
        )


def refuse_known(tasks: Tasks, as_of: datetime, learned: Items) -> None:
    """Raises LeakageError naming a task that may not judge an update: it was created before it, its outcome was
    available to it, or one of its candidates is among what it learned from."""
    now = moment(as_of)
    for hit, why in (
        (tasks.created_at < now, "was created before the update"),
        (tasks.available_at <= now, "had its outcome available to the update"),
        (_shared(tasks, learned), "is among what the update learned from"),
    ):
        if hit.any():
            i = int(np.flatnonzero(hit)[0])
            raise LeakageError(
                f"task {tasks.names[i]} (created {tasks.created_at[i]}Z) cannot judge the update as of "
                f"{as_of.isoformat()}: it {why}"
            )


def replay(
    stream: Stream,
    tasks: Tasks,
    policies: Sequence[Policy],
    *,
    rounds: Sequence[datetime],
    extractor: Extractor,
    setting: Setting,
    objective: str = "click",
    warm_up: float = 0.2,
    progress: Progress | None = None,
) -> Replayed:
    """One pass over the stream; the last round is the freeze, and tasks after it judge nothing here.

    warm_up: the share of tasks after which the append-only bank, cut to B, becomes the initial memory of every
    policy. Until then nothing is judged. Evidence is worked out once a round and shared.
    """
    warm_until = np.sort(tasks.created_at)[int(warm_up * len(tasks))] if len(tasks) else moment(rounds[-1])
    first = AppendOnly(setting)
    started = False
    known: Known | None = None
    window = np.full(len(tasks), -1, dtype=np.int64)
    utilities = {policy.name: np.full(len(tasks), np.nan) for policy in policies}
    stages: dict[str, list[Stage]] = {policy.name: [] for policy in policies}
    banks: dict[str, tuple[Card, ...]] = {policy.name: () for policy in policies}
    for k, at in enumerate(rounds):
        last = k == len(rounds) - 1
        known = study(stream, at, extractor, objective=objective, final=last, earlier=known)
        if not started:
            first.update(known)
            if last or moment(at) >= warm_until:
                started = True
                initial = cut(first.cards(), setting.rules.capacity.cards)
                for policy in policies:
                    policy.start(initial, known)
        for policy in policies:
            if started:
                policy.update(known)
            bank = policy.cards()
            stages[policy.name].append(_stage(banks[policy.name], bank))
            banks[policy.name] = bank
        if started and not last:
            inside = (tasks.created_at >= moment(at)) & (tasks.created_at < moment(rounds[k + 1]))
            judging = tasks.take(inside)
            refuse_known(judging, at, known.items)
            window[inside] = k
            part = Shown.of(extractor.degrees_each(list(judging.texts)))
            for policy in policies:
                scores = bank_scores(banks[policy.name], part, judging.contexts)
                utilities[policy.name][inside] = judging.utilities(scores)
        if progress is not None:
            progress(k + 1, len(rounds))
    if known is None:
        raise ValueError("a replay needs at least one round, the freeze")
    return Replayed(
        rounds=tuple(rounds),
        stages={name: tuple(found) for name, found in stages.items()},
        window=window,
        utilities=utilities,
        known=known,
    )


def study(
    stream: Stream,
    as_of: datetime,
    extractor: Extractor,
    *,
    objective: str,
    final: bool = False,
    earlier: Known | None = None,
) -> Known:
    """Evidence from what was available, checked. earlier: the round before, whose joint effects are a start."""
    items = stream.known(as_of)
    refuse_unavailable(items, as_of)
    names, matrix = extractor.design(items.texts, items.strata, items.declared)
    found = current(items, Design(names=names, matrix=matrix), objective)
    design = found.design
    start = None if earlier is None else _carried(earlier.evidence, names)
    evidence = assess(items, design, objective=objective, as_of=as_of, start=start, found=found)
    return Known(as_of=as_of, items=items, design=design, evidence=evidence, final=final)


def cut(cards: Sequence[Card], room: int) -> tuple[Card, ...]:
    """The cards with the largest effects, ties by content hash."""
    return tuple(sorted(cards, key=lambda card: (-abs(card.effect), card.content_hash))[:room])


def utc(at: np.datetime64) -> datetime:
    """A column's time as a timezone-aware one."""
    naive: datetime = at.astype("datetime64[us]").item()
    return naive.replace(tzinfo=UTC)


def _carried(table: EvidenceTable, names: Sequence[str]) -> Floats:
    place = table.index()
    return np.array([table.joint[place[name]] if name in place else 0.0 for name in names], dtype=np.float64)


def _shared(tasks: Tasks, learned: Items) -> Bools:
    known = set(learned.ids)
    hit = np.zeros(len(tasks), dtype=np.bool_)
    hit[[int(tasks.task[i]) for i, name in enumerate(tasks.ids) if name in known]] = True
    return hit


def _stage(before: Sequence[Card], after: Sequence[Card]) -> Stage:
    old, new = ({card.id: card for card in cards} for cards in (before, after))
    edited = sum(old.get(name) is not card and old.get(name) != card for name, card in new.items())
    return Stage(cards=len(new), tokens=tokens(after), edits=edited + len(old.keys() - new.keys()))
