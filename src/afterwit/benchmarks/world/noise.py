"""Cards whose worth is known: good ones, and five kinds of bad ones.

irrelevant     words about something that no message of this agent shows
stale          what another era's truth would bear out, and today's does not; where truth never changes, and where
               nothing that changed is left, what is simply wrong
wrong context  a claim moved to where its effect turns round
contradictory  the opposite of a good card
redundant      a good card once more, in other words
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

import numpy as np

from afterwit.benchmarks.world.truth import Truth
from afterwit.evolve.wording import guidance_for
from afterwit.model import Card, Clause, Condition, Provenance, Stance, content_hash

Kind = Literal["good", "irrelevant", "stale", "wrong_context", "contradictory", "redundant"]
NOISE: tuple[Kind, ...] = ("irrelevant", "stale", "wrong_context", "contradictory", "redundant")
GOOD = 0.05
"""The least merit of a good card, log rate ratio; a bad one's is at most its negative."""

_ASIDES = (
    "Thank the reader in the last line",
    "Mention how long the company has existed",
    "Name the month in full",
    "Write the way the founder speaks",
    "Keep the legal line in the second half",
    "Begin with the same word as last time",
    "Never use the word amazing",
    "Refer to the weather of the week",
)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Advice and where it is given."""

    stance: Stance
    when: Condition

    @property
    def opposite(self) -> "Claim":
        return replace(self, stance=replace(self.stance, prefer=not self.stance.prefer))


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A card of known kind. of: the good card that it copies or opposes."""

    card: Card
    kind: Kind
    of: str | None = None


def true_claims(truth: Truth, era: int, *, least: float = GOOD) -> list[Claim]:
    """What is worth saying: every decision with an effect, split where the effect turns round."""
    found = []
    for name in truth.names:
        for prefer in (True, False):
            for when in (*_sides(truth, name),) or (Condition(),):
                claim = Claim(stance=Stance(decision=name, prefer=prefer), when=when)
                if truth.merit(claim.stance, claim.when, era) >= least:
                    found.append(claim)
    return found


def stale_claims(truth: Truth, era: int) -> list[Claim]:
    """True in the other era, false in this one."""
    other = true_claims(truth, 1 - era) if truth.parameters.shift.round else []
    return [claim for claim in other if truth.merit(claim.stance, claim.when, era) <= -GOOD]


def moved_claims(truth: Truth, era: int) -> list[Claim]:
    """True claims about decisions whose effect turns round, moved to the other side."""
    found = []
    for claim in true_claims(truth, era):
        if claim.when.clauses:
            other = next(when for when in _sides(truth, claim.stance.decision) if when != claim.when)
            moved = replace(claim, when=other)
            if truth.merit(moved.stance, moved.when, era) <= -GOOD:
                found.append(moved)
    return found


def wrong_claims(truth: Truth, era: int) -> list[Claim]:
    """The opposite of what is true in every era."""
    found = [claim.opposite for claim in true_claims(truth, era)]
    return [claim for claim in found if truth.merit(claim.stance, claim.when, 1 - era) <= -GOOD]


def card(claim: Claim, *, scope: str, at: datetime, name: str, words: bool, effect: float = 0.0) -> Card:
    """words: without a stance, so that only what the agent does tells what the card is about."""
    plain = guidance_for(claim.stance.decision, claim.stance.prefer, lambda _: None)
    verb = "Prefer" if claim.stance.prefer else "Avoid"
    said = f"{verb} {claim.stance.decision} in such messages, as colleagues do" if words else plain
    return Card(
        id=content_hash("planted", scope, name)[:32],
        scope=scope,
        key=claim.stance.decision,
        guidance=said,
        when=claim.when,
        stance=None if words else claim.stance,
        effect=effect,
        provenance=Provenance(operator="add", trust="model"),
        created_at=at,
        valid_from=at,
    )


def aside(place: int, *, scope: str, at: datetime, name: str) -> Card:
    """An irrelevant card."""
    return Card(
        id=content_hash("planted", scope, name)[:32],
        scope=scope,
        key=f"habit {place}",
        guidance=f"{_ASIDES[place % len(_ASIDES)]} ({name})",
        provenance=Provenance(operator="add", trust="model"),
        created_at=at,
        valid_from=at,
    )


def planted(
    truth: Truth,
    era: int,
    kinds: Sequence[Kind],
    good: Sequence[tuple[Card, Claim]],
    rng: np.random.Generator,
    *,
    scope: str,
    at: datetime,
    wordy: float,
    context: dict[str, str] | None = None,
    name: str,
) -> list[Planted]:
    """Bad cards of these kinds, in order. good: cards that they may oppose or copy, and what those claim. context:
    that they must apply to, where one is given. A kind that the truth has no case of left is replaced by a wrong
    claim, which counts as stale. Effects are those that an append-only memory would remember: of a good card's size.
    """
    stale, moved, wrong = (
        _shuffled([c for c in found if context is None or c.when.holds(context)], rng)
        for found in (stale_claims(truth, era), moved_claims(truth, era), wrong_claims(truth, era))
    )
    taken = {claim.stance.decision for _, claim in good}
    made: list[Planted] = []
    partners = [good[i] for i in rng.permutation(len(good))]
    for place, kind in enumerate(kinds):
        own = f"{name}-{place}-{kind}"
        if kind == "irrelevant":
            made.append(Planted(card=aside(place, scope=scope, at=at, name=own), kind=kind))
            continue
        partner = partners[place % len(partners)] if partners else None
        if kind in ("contradictory", "redundant") and partner is not None:
            claim = partner[1].opposite if kind == "contradictory" else partner[1]
            words = kind == "redundant" or bool(rng.random() < wordy)
            made.append(
                Planted(
                    card=card(claim, scope=scope, at=at, name=own, words=words, effect=_size(truth, claim, era)),
                    kind=kind,
                    of=partner[0].id,
                )
            )
            continue
        pool = moved if kind == "wrong_context" else stale
        found = next((c for c in (*pool, *wrong) if c.stance.decision not in taken), None)
        if found is None:
            continue
        taken.add(found.stance.decision)
        words = bool(rng.random() < wordy)
        told: Kind = kind if found in pool else "stale"
        made.append(
            Planted(
                card=card(found, scope=scope, at=at, name=own, words=words, effect=_size(truth, found, era)), kind=told
            )
        )
    return made


def _size(truth: Truth, claim: Claim, era: int) -> float:
    """The effect that the card's writer believed in."""
    return claim.stance.sign * abs(truth.merit(claim.stance, claim.when, era))


def _sides(truth: Truth, name: str) -> tuple[Condition, ...]:
    turn = truth.turns.get(name)
    if turn is None:
        return ()
    field, level = turn
    return tuple(
        Condition(clauses=(Clause(field=field, operator=operator, values=(level,)),)) for operator in ("in", "not in")
    )


def _shuffled(claims: list[Claim], rng: np.random.Generator) -> list[Claim]:
    return [claims[i] for i in rng.permutation(len(claims))]
