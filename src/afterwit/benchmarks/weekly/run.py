"""Every world over many seeds: what a bank that starts empty advises after each weekly round."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from importlib.metadata import version

import numpy as np
from scipy import stats

from afterwit.benchmarks.weekly import worlds
from afterwit.benchmarks.weekly.worlds import START, WEEK, Context, World
from afterwit.credit.items import moment
from afterwit.decisions.extraction import Extractor
from afterwit.decisions.vocabulary import Vocabulary
from afterwit.evaluate.policies.tide import Folded
from afterwit.evaluate.record import EvaluationRecord
from afterwit.evolve.learn import Learner
from afterwit.model import Batch, Card, Interval, Round
from afterwit.ports import Progress

_ASKS, _TELLS = "The old mill won a prize?", "The old mill won a prize."
_FOUND_WITHIN, _GONE_WITHIN, _NEW_WITHIN = 12, 3, 8


@dataclass(frozen=True, kw_only=True)
class Life:
    """What a bank advised on questions after each round, round r at place r − 1."""

    world: World
    banks: tuple[tuple[Card, ...], ...]
    extractor: Extractor

    def advice(self, round_: int, context: Context, *, active: bool = False) -> float:
        """Joint effect of asking, in a context, as the cards say it; of confirmed ones alone where ``active``."""
        asks, tells = self.extractor.shown(_ASKS), self.extractor.shown(_TELLS)
        return sum(
            card.effect * ((card.stance.decision in asks) - (card.stance.decision in tells))
            for card in self.banks[round_ - 1]
            if card.stance and card.when.holds(context) and (card.status == "active" or not active)
        )

    def about_questions(self, round_: int) -> Iterator[Card]:
        apart = self.extractor.shown(_ASKS) ^ self.extractor.shown(_TELLS)
        return (card for card in self.banks[round_ - 1] if card.stance and card.stance.decision in apart)

    def first(self, holds: Callable[[int], bool], *, after: int = 0) -> int | None:
        """Rounds from ``after`` until something holds; None where it never does."""
        return next((r - after for r in range(after + 1, len(self.banks) + 1) if holds(r)), None)


def live(world: World, seed: int) -> Life:
    """The bank after each round."""
    extractor = _extractor()
    ledger, banks = Folded("simulated/weekly", "content"), []
    for round_ in rounds(world, seed, extractor):
        ledger.commit(round_)
        banks.append(ledger.bank().cards)
    return Life(world=world, banks=tuple(banks), extractor=extractor)


def rounds(world: World, seed: int, extractor: Extractor | None = None) -> list[Round]:
    """One a week, from what was available then."""
    items = world.items(seed)
    learner, ledger = Learner(extractor=extractor or _extractor()), Folded("simulated/weekly", "content")
    history: list[Batch] = []
    made = []
    for week in range(1, world.weeks + 2):
        as_of = START + week * WEEK + timedelta(hours=1)
        learned = learner.learn(items.take(items.available_at <= moment(as_of)), as_of)
        made.append(
            learner.round(ledger.bank(), learned, history=history, as_of=as_of, final=False, round_id=f"{seed}-{week}")
        )
        ledger.commit(made[-1])
        history += [made[-1].batch] if made[-1].batch else []
    return made


def _extractor() -> Extractor:
    return Extractor(vocabulary=Vocabulary.load("headlines"))


def confirmed_by(life: Life, within: int) -> bool:
    sign = np.sign(life.world.effect(0, {}))
    first = life.first(lambda r: life.advice(r, {}, active=True) * sign > 0)
    return first is not None and first <= within


def confirms_anything(life: Life) -> bool:
    return any(card.status == "active" for bank in life.banks for card in bank)


def contexts_right(life: Life) -> bool:
    """At the end: the sign of the truth in 95 % of the contexts that have an effect, and no card that holds
    everywhere."""
    chance = np.random.default_rng(0)
    last = len(life.banks)
    right = []
    for context in (life.world.contexts(chance) for _ in range(200)):
        if truth := life.world.effect(life.world.weeks, context):
            right.append(np.sign(life.advice(last, context)) == np.sign(truth))
    return float(np.mean(right)) >= 0.95 and all(card.when.clauses for card in life.about_questions(last))


def gone(life: Life, at: int) -> bool:
    """The old advice is withdrawn within three rounds of the first that could know better."""
    first = life.first(lambda r: life.advice(r, {}) <= 0, after=at + 1)
    return first is not None and first <= _GONE_WITHIN


def replaced(life: Life, at: int) -> bool:
    first = life.first(lambda r: life.advice(r, {}) < 0, after=at + 1)
    return first is not None and first <= _NEW_WITHIN


def questions() -> dict[str, tuple[World, Mapping[str, Callable[[Life], bool]]]]:
    """World by name, with what is asked of each life in it."""
    change = 12
    asked: list[tuple[World, Mapping[str, Callable[[Life], bool]]]] = [
        (worlds.steady(1.3), {"active within 12 rounds": lambda life: confirmed_by(life, _FOUND_WITHIN)}),
        (worlds.steady(1.15), {"active within 20 rounds": lambda life: confirmed_by(life, 20)}),
        (worlds.steady(1.0), {"confirms anything": confirms_anything}),
        *((world, {"right at the end": contexts_right}) for world in _contextual()),
        (
            worlds.change(change),
            {
                "old advice gone within 3 rounds": lambda life: gone(life, change),
                "new advice within 8 rounds": lambda life: replaced(life, change),
            },
        ),
    ]
    return {world.name: (world, what) for world, what in asked}


def _contextual() -> tuple[World, ...]:
    return worlds.opposite(), worlds.two_fields(), worlds.numeric(), worlds.proxy()


def run(
    *,
    seeds: int = 20,
    first_seed: int = 0,
    tests: int | None = None,
    impressions: int | None = None,
    noise: float | None = None,
    progress: Progress | None = None,
) -> EvaluationRecord:
    """Shares of seeds with Wilson's 95 % interval. tests, impressions, noise: a week, an arm, between items; those of
    each world where None."""
    began = time.perf_counter()
    asked = questions()
    figures: dict[str, dict[str, Interval]] = {}
    for done, (name, (world, what)) in enumerate(asked.items()):
        world = world.with_size(tests=tests, impressions=impressions)
        world = world if noise is None else replace(world, noise=noise)
        lives = []
        for seed in range(first_seed, first_seed + seeds):
            lives.append(live(world, seed))
            if progress is not None:
                progress(done * seeds + len(lives), len(asked) * seeds)
        figures[name] = {metric: share([holds(life) for life in lives]) for metric, holds in what.items()}
    return EvaluationRecord(
        benchmark="weekly",
        version=version("afterwit"),
        seed=first_seed,
        seconds=time.perf_counter() - began,
        data={},
        policies=figures,
        counts={"seeds": seeds},
        notes=("simulated: what a small team's log looks like if the world is as simple as this one",),
    )


def share(held: list[bool]) -> Interval:
    """With Wilson's 95 % interval."""
    interval = stats.binomtest(sum(held), len(held)).proportion_ci(method="wilson")
    return Interval(value=sum(held) / len(held), low=float(interval.low), high=float(interval.high), n=len(held))
