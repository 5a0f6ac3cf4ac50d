"""Controlled requests: a few good cards and one bad one, served again and again, then one round of edits.

Each request has a context, ``good`` cards that are right there and a bad card of one of the five kinds in turn. The
round knows the log after the warm-up and who was responsible; it may not admit, so that its edits alone are judged.

    responsibility_f1   2 TP / (2 TP + FP + FN) over (play, decision, card): what was credited against what the choice
                        hung on
    correct_edit        of all cards, the share that fared as they should: advice of good ones still given there, the
                        bad one's gone (of a redundant one: given once)
    bad_memory_survival of bad cards, the share that still stands
    future_meg          utility of new tasks in that context with the bank after the round less that before it
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from afterwit.benchmarks.world.agent import advice
from afterwit.benchmarks.world.log import ends
from afterwit.benchmarks.world.noise import NOISE, Claim, Planted, card, planted, true_claims
from afterwit.benchmarks.world.play import Crediting, Desk, Served, responsible
from afterwit.benchmarks.world.season import Season
from afterwit.credit.responsibility.grants import Grants
from afterwit.evaluate.policies import Tide
from afterwit.evaluate.policies.protocol import Known
from afterwit.model import Card, Credit, content_hash

Landing = tuple[str, str, str]
"""Episode, decision, card."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Request:
    """context: its place in the truth. served: every play before the update."""

    name: str
    context: int
    good: tuple[Card, ...]
    bad: Planted
    served: tuple[Served, ...]

    @property
    def cards(self) -> tuple[Card, ...]:
        return (*self.good, self.bad.card)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """hits, false, missed: landings of credit. right: cards that fared as they should, of how many. gain: utility of
    each new task after the edits less before."""

    kind: str
    hits: int
    false: int
    missed: int
    right: int
    cards: int
    survived: bool
    gain: tuple[float, ...]


def requests(season: Season, desk: Desk) -> list[Request]:
    """The controlled requests of a world, kinds of noise in turn."""
    truth, p = season.truth, season.truth.parameters.requests
    claims, now, scope = true_claims(truth, 0), ends(truth, 0), season.setting.scope
    made: list[Request] = []
    for i in range(p.count):
        rng = np.random.default_rng([season.seed, 7, i])
        place = int(rng.integers(len(truth.contexts)))
        context = truth.context(place)
        chosen: dict[str, Claim] = {}
        for k in rng.permutation(len(claims)):
            slot = claims[k].stance.decision.partition("=")[0]
            if len(chosen) < p.good and claims[k].when.holds(context):
                chosen.setdefault(slot, claims[k])
        good = [
            (card(claim, scope=scope, at=now, name=f"q{i}g{k}", words=False, effect=_size(truth.merit, claim)), claim)
            for k, claim in enumerate(chosen.values())
        ]
        bad = planted(
            truth,
            0,
            [NOISE[i % len(NOISE)]],
            good,
            rng,
            scope=scope,
            at=now,
            wordy=truth.parameters.memory.wordy,
            context=context,
            name=f"q{i}",
        )
        if not bad:
            continue
        held = (*(one for one, _ in good), bad[0].card)
        jobs = [desk.job(place, f"q{i}p{k}") for k in range(p.plays)]
        served = desk.serve(held, jobs, era=0, now=now, scope=scope)
        made.append(Request(name=f"q{i}", context=place, good=held[:-1], bad=bad[0], served=served))
    return made


def judged(request: Request, season: Season, desk: Desk, known: Known, credits: Sequence[Credit]) -> Outcome:
    """One round with this credit, and what became of it. credits: every entry on the plays."""
    truth, now = season.truth, ends(season.truth, 0)
    rules = replace(season.setting.rules, without=frozenset({"admit"}))
    tide = Tide(replace(season.setting, rules=rules), grant=lambda: Grants(new=tuple(credits), standing=tuple(credits)))
    tide.start(request.cards, known)
    tide.update(known)
    after, context = tide.cards(), truth.context(request.context)
    given = [advice(one) for one in after if one.when.holds(context)]
    kept = [advice(one) in given for one in request.good]
    said = advice(request.bad.card)
    survived = given.count(said) > (request.bad.kind == "redundant")
    if said is None:
        survived = any(one.id == request.bad.card.id for one in after)
    future = [desk.job(request.context, f"{request.name}f{k}") for k in range(truth.parameters.memory.tasks)]
    old, new = (desk.serve(bank, future, era=0, now=now, scope=season.setting.scope) for bank in (request.cards, after))
    landed = {(c.episode_id, c.decision, c.card_id) for c in credits if c.weight > 0}
    true = {(one.episode.id, decision, card_id) for one in request.served for decision, card_id in responsible(one)}
    return Outcome(
        kind=request.bad.kind,
        hits=len(landed & true),
        false=len(landed - true),
        missed=len(true - landed),
        right=sum(kept) + (not survived),
        cards=len(request.cards),
        survived=survived,
        gain=tuple(b.utility - a.utility for a, b in zip(old, new, strict=True)),
    )


def replayed(request: Request, desk: Desk) -> Sequence[Credit]:
    """The real thing: recalled, cited, and the decision changes without it."""
    crediting = Crediting(agent=desk.agent)
    crediting.add(request.served)
    return crediting().new


def cited(request: Request, desk: Desk) -> Sequence[Credit]:
    """Without replay: whatever was cited is credited alike."""
    return [
        _credit(one, citation.decision, card_id, 1 / len(citation.cards))
        for one in request.served
        for citation in one.episode.citations
        for card_id in citation.cards
    ]


def guessed(request: Request, desk: Desk) -> Sequence[Credit]:
    """Without traces of use: a card in the bank is credited with what its stance names, where the message does that."""
    found = []
    for one in request.served:
        shown = {d.key for d in one.episode.decisions}
        for held in one.cards:
            if held.stance is not None and held.stance.followed in shown:
                found.append(_credit(one, held.stance.followed, held.id, 1.0))
    return found


CREDITING: Mapping[str, Callable[[Request, Desk], Sequence[Credit]]] = {
    "tide": replayed,
    "no replay": cited,
    "no usage traces": guessed,
    "no responsibility credit": lambda request, desk: (),
}


def _credit(one: Served, decision: str, card_id: str, weight: float) -> Credit:
    return Credit(
        id=content_hash(one.episode.id, decision, card_id)[:32],
        episode_id=one.episode.id,
        card_id=card_id,
        decision=decision,
        weight=weight,
        kind="sole",
        reason="not replayed",
    )


def _size(merit: Callable[..., float], claim: Claim) -> float:
    return claim.stance.sign * abs(merit(claim.stance, claim.when, 0))
