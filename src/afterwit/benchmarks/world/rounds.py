"""Many rounds of evolution: every policy with the same log, tasks, initial memory, retriever and capacity.

An update at the end of a round sees what is ripe then; the tasks of the next round judge the banks. The agent's own
messages are judged by the truth and do not enter the log, so that policies are compared on the same evidence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from afterwit.benchmarks.world.agent import Agent
from afterwit.benchmarks.world.log import ends
from afterwit.benchmarks.world.noise import NOISE, Claim, Planted, planted
from afterwit.benchmarks.world.play import Crediting, Desk, Served
from afterwit.benchmarks.world.season import Credit, Season
from afterwit.benchmarks.world.truth import Truth
from afterwit.evaluate.policies import POLICIES, Policy, Tide
from afterwit.evaluate.policies.append_only import AppendOnly
from afterwit.evaluate.policies.protocol import Known
from afterwit.evaluate.replay import cut
from afterwit.model import Card, OperatorName
from afterwit.ports import Embedder


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A way to keep the memory. credit: what is left out of credit. without: operators that may not act. grants:
    whether responsibility is credited. delay: updates by which what is known lags behind."""

    name: str
    policy: str = "tide"
    credit: Credit = "all"
    without: frozenset[OperatorName] = frozenset()
    grants: bool = True
    delay: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Lived:
    """One variant through one world. banks: the initial one, and after each update (rounds + 1). served: the tasks of
    each round (rounds). left: of every update, cards that were evicted or expired."""

    variant: Variant
    banks: tuple[tuple[Card, ...], ...]
    served: tuple[tuple[Served, ...], ...]
    left: tuple[tuple[Card, ...], ...]

    def figure(self, name: str) -> np.ndarray:
        """(rounds, tasks)."""
        return np.array([[getattr(each, name) for each in round_] for round_ in self.served], dtype=np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Stage:
    """What all variants share in one world. planted: the bad cards of the initial memory."""

    season: Season
    desk: Desk
    initial: tuple[Card, ...]
    planted: tuple[Planted, ...]
    _known: dict[Credit, tuple[Known, ...]] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(season: Season, embedder: Embedder) -> "Stage":
        truth, known = season.truth, season.known()
        initial, bad = initial_memory(season, known[0])
        return Stage(
            season=season,
            desk=Desk(truth=truth, agent=agent_of(truth), embedder=embedder),
            initial=initial,
            planted=bad,
            _known={"all": known},
        )

    def known(self, credit: Credit) -> tuple[Known, ...]:
        if credit not in self._known:
            self._known[credit] = self.season.known(credit)
        return self._known[credit]

    def live(self, variant: Variant) -> Lived:
        """The whole run of one variant."""
        truth, desk = self.season.truth, self.desk
        crediting = Crediting(agent=desk.agent)
        policy = self._policy(variant, crediting)
        known = self.known(variant.credit)
        policy.start(() if variant.policy == "none" else self.initial, known[0])
        banks, served, left = [policy.cards()], [], []
        for update in range(truth.parameters.memory.rounds):
            if update >= variant.delay:
                seen = known[update - variant.delay]
                policy.update(seen)
            before, after = banks[-1], policy.cards()
            left.append(_left(policy, before, after))
            banks.append(after)
            done = desk.serve(
                after,
                desk.jobs(update + 1, self.season.seed),
                era=truth.era(update + 1),
                now=ends(truth, update),
                scope=self.season.setting.scope,
            )
            served.append(done)
            crediting.add(done)
        return Lived(variant=variant, banks=tuple(banks), served=tuple(served), left=tuple(left))

    def _policy(self, variant: Variant, crediting: Crediting) -> Policy:
        setting = self.season.setting
        if variant.policy != "tide":
            return POLICIES[variant.policy](setting)
        rules = replace(setting.rules, without=variant.without)
        own = replace(setting, rules=rules)
        if not variant.grants:
            return Tide(own, name=variant.name)
        return Tide(own, grant=crediting, name=variant.name)


def agent_of(truth: Truth) -> Agent:
    p = truth.parameters
    return Agent(slots=p.decisions.slots, values=p.decisions.values, absent=p.decisions.absent, hitch=p.requests.hitch)


def initial_memory(season: Season, known: Known) -> tuple[tuple[Card, ...], tuple[Planted, ...]]:
    """The append-only bank after the warm-up, cut to B, with bad cards in the place of some: of every kind alike."""
    p, truth = season.truth.parameters.memory, season.truth
    first = AppendOnly(season.setting)
    first.update(known)
    at = ends(truth, 0)
    rng = np.random.default_rng([season.seed, 6])
    good = cut(first.cards(), round(p.capacity * (1 - p.noise)))
    claims = [(card, Claim(stance=card.stance, when=card.when)) for card in good if card.stance]
    right = [(card, c) for card, c in claims if truth.merit(c.stance, c.when, 0) > 0]
    count = min(round(len(good) * p.noise / (1 - p.noise)), p.capacity - len(good))
    kinds = [NOISE[i % len(NOISE)] for i in range(count)]
    bad = planted(truth, 0, kinds, right, rng, scope=season.setting.scope, at=at, wordy=p.wordy, name="initial")
    wordless = rng.random(len(good)) < p.wordy
    told = tuple(_in_words(card) if hit else card for card, hit in zip(good, wordless, strict=True))
    return (*told, *(each.card for each in bad)), tuple(bad)


def _in_words(card: Card) -> Card:
    """A card that says the same without naming its decision, as people write them."""
    said = f"{card.guidance.rstrip('.')}, it has worked"
    return replace(card, stance=None, guidance=said, effect=0.0, trial=None)


def _left(policy: Policy, before: Sequence[Card], after: Sequence[Card]) -> tuple[Card, ...]:
    """Cards that a round removed for good: evicted or expired, not merged, split or revised."""
    if isinstance(policy, Tide):
        gone = [
            card.id
            for edit in policy.rounds[-1].edits
            if edit.operator in ("evict", "expire")
            for card in edit.writes
            if not card.live
        ]
        held = {card.id: card for card in before}
        return tuple(held[id_] for id_ in gone if id_ in held)
    now = {card.id for card in after}
    return tuple(card for card in before if card.id not in now)


VARIANTS: Mapping[str, Variant] = {
    name: Variant(name=name, policy=name)
    for name in ("none", "frozen", "full_history", "append_only", "random_replacement", "outcome_only", "tide")
}
