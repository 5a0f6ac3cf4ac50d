"""The delivery log of a world: messages that others sent, placed by a policy with tastes, and what came back.

Simulated. Impressions fall over seven days; clicks and conversions hang on the message, the context and the place;
conversions come late; some events arrive late, and some twice.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from afterwit.benchmarks.world.truth import Truth, decision
from afterwit.credit.items import Floats, Ints
from afterwit.model import Decision, Delivery
from afterwit.ports import EventLog

START = datetime(2025, 1, 6, tzinfo=UTC)
SCOPE = "simulated/world"
_ARMS = 4
_WEEK = np.array([0.20, 0.18, 0.16, 0.14, 0.12, 0.11, 0.09])
_DAY = 86_400_000_000
_MOST_DAYS = 27.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Sent:
    """What was delivered in one round. chosen: value by slot, −1 for none, (n, slots); contexts: place, (n,)."""

    deliveries: tuple[Delivery, ...]
    chosen: Ints
    contexts: Ints


def ends(truth: Truth, round_: int) -> datetime:
    """When a round is over: 0 for the end of the warm-up, negative inside it."""
    memory = truth.parameters.memory
    return START + timedelta(days=truth.parameters.log.days * (memory.warm_up + round_))


def rounds(truth: Truth) -> range:
    """Rounds of log: those of the warm-up end at 0."""
    memory = truth.parameters.memory
    return range(1 - memory.warm_up, memory.rounds + 1)


def written(truth: Truth, log: EventLog, seed: int) -> Iterator[Sent]:
    """Writes the log round by round. Each event can be known from when it arrived."""
    for round_ in rounds(truth):
        sent = _sent(truth, round_, np.random.default_rng([seed, 2, round_ + 1000]))
        log.append(SCOPE, _events(truth, round_, sent, np.random.default_rng([seed, 3, round_ + 1000])))
        yield sent


def messages(truth: Truth, n: int, rng: np.random.Generator, *, phase: Floats | None = None) -> Ints:
    """Random messages, (n, slots). phase: how far each lies into the round, 0 to 1, where fashion counts."""
    d, log = truth.parameters.decisions, truth.parameters.log
    taste = np.zeros((n, d.slots, d.values))
    if phase is not None:
        taste = log.fashion * (phase - 0.5)[:, None, None] * truth.trend
    drawn = np.argmax(taste + rng.gumbel(size=taste.shape), axis=2)
    return np.where(rng.random((n, d.slots)) < d.absent, -1, drawn).astype(np.int64)


def _sent(truth: Truth, round_: int, rng: np.random.Generator) -> Sent:
    p = truth.parameters
    n = p.log.items
    tested = int(p.log.randomised * n) // _ARMS * _ARMS
    begin = ends(truth, round_ - 1)
    phase = np.sort(rng.random(n - tested))
    campaign = np.repeat(rng.random(tested // _ARMS), _ARMS)
    phase = np.concatenate((campaign, phase))
    contexts = rng.choice(len(truth.contexts), size=n, p=truth.mix(round_))
    contexts[:tested] = np.repeat(contexts[:tested:_ARMS], _ARMS)
    chosen = messages(truth, n, rng, phase=phase)
    places = p.contexts.placements
    liked = np.take_along_axis(truth.liked[None], np.maximum(chosen, 0)[:, :, None], axis=2)[:, :, 0]
    appeal = (liked * (chosen >= 0)).sum(axis=1) / np.sqrt(p.decisions.slots)
    best = np.argmax(
        p.log.favour * appeal[:, None] * -np.arange(len(places)) + rng.gumbel(size=(n, len(places))), axis=1
    )
    best[:tested] = np.repeat(rng.integers(len(places), size=tested // _ARMS), _ARMS)
    deliveries = []
    for i in range(n):
        context = truth.context(int(contexts[i]))
        made = [(slot, int(value)) for slot, value in enumerate(chosen[i]) if value >= 0]
        keys = [decision(slot, value).split("=") for slot, value in made]
        deliveries.append(
            Delivery(
                id=f"r{round_:+03d}-{i:05d}",
                scope=SCOPE,
                created_at=begin + timedelta(seconds=int(phase[i] * p.log.days * 86_400)),
                text=" ".join("_".join(key) for key in keys) or "nothing",
                context=context,
                decisions=tuple(Decision(name=name, value=value) for name, value in keys),
                experiment=f"r{round_:+03d}-t{i // _ARMS}" if i < tested else None,
                placement=places[int(best[i])],
                policy="randomised" if i < tested else "tastes",
            )
        )
    return Sent(deliveries=tuple(deliveries), chosen=chosen, contexts=contexts.astype(np.int64))


def _events(truth: Truth, round_: int, sent: Sent, rng: np.random.Generator) -> Any:
    import pyarrow

    p, n, era = truth.parameters.log, len(sent.deliveries), truth.era(round_)
    rows, slots = np.nonzero(sent.chosen >= 0)
    values = sent.chosen[rows, slots]

    def total(table: Floats) -> Floats:
        effects = table[era, sent.contexts[rows], slots, values]
        return np.bincount(rows, weights=effects, minlength=n).astype(np.float64)

    noise = rng.normal(0, p.item_sd, size=n)
    place = truth.parameters.contexts.placements
    lift = np.array([p.placement_lift * (1 - place.index(d.placement or "") / len(place)) for d in sent.deliveries])
    clicks, conversions = total(truth.click), total(truth.effect)
    rate = np.minimum(p.click * np.exp(clicks + lift + noise), 0.9)
    bought = np.minimum(p.conversion * np.exp(conversions - clicks), 0.95)
    born = np.array([(d.created_at - START) // timedelta(microseconds=1) for d in sent.deliveries], dtype=np.int64)
    reach = np.exp(rng.normal(0, 0.2, size=n))
    tests = np.flatnonzero([d.experiment is not None for d in sent.deliveries])
    reach[tests] = reach[tests // _ARMS * _ARMS]  # traffic is split evenly between the arms of a test
    shown = rng.poisson(p.impressions * reach[:, None] * _WEEK)
    clicked = rng.binomial(shown, rate[:, None])
    item, day = np.nonzero(shown)
    impressions = (item, born[item] + day * _DAY, shown[item, day])
    each = np.repeat(np.arange(n * 7), clicked.ravel())
    who, when = each // 7, born[each // 7] + (each % 7) * _DAY + rng.integers(1, _DAY, size=len(each))
    buys = rng.random(len(who)) < bought[who]
    wait = np.minimum(rng.exponential(p.delay_days, size=int(buys.sum())), _MOST_DAYS) * _DAY
    kinds = [
        ("impression", *impressions, None),
        ("click", who, when, np.ones(len(who), dtype=np.int64), np.arange(len(who))),
        (
            "conversion",
            who[buys],
            when[buys] + wait.astype(np.int64),
            np.ones(int(buys.sum()), dtype=np.int64),
            np.flatnonzero(buys),
        ),
    ]
    ids = np.array([d.id for d in sent.deliveries])
    tables = []
    zero = (START - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    for kind, of, at, count, user in kinds:
        late = (rng.random(len(of)) < p.late) * rng.exponential(p.late_days, size=len(of)) * _DAY
        moment = pyarrow.timestamp("us", tz="UTC")
        column = {
            "event_id": pyarrow.array([f"{kind}{round_}-{i}" for i in range(len(of))]),
            "delivery_id": pyarrow.array(ids[of]),
            "kind": pyarrow.array([kind] * len(of)),
            "at": pyarrow.array(at + zero).cast(moment),
            "available_at": pyarrow.array(at + late.astype(np.int64) + zero).cast(moment),
            "count": pyarrow.array(count),
            "user_id": pyarrow.array(_users(round_, len(of), user), pyarrow.string()),
            "aggregate": pyarrow.array([False] * len(of)),
            "final": pyarrow.array([True] * len(of)),
        }
        tables.append(pyarrow.table(column))
    whole = pyarrow.concat_tables(tables)
    twice = rng.choice(len(whole), size=int(p.duplicated * len(whole)), replace=False)
    return pyarrow.concat_tables([whole, whole.take(np.sort(twice))])


def _users(round_: int, n: int, user: Any) -> list[str | None]:
    """Clicks and conversions are known by person; impressions are counted."""
    return [None] * n if user is None else [f"u{round_}-{u}" for u in user.tolist()]
