"""The evidence gate: deterministic, by elimination from the record (design section 8)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from afterwit.credit.gate.lessons import lessons_of
from afterwit.credit.gate.record import Finding, complaints, departures, external_faults, same_steps, unsupported
from afterwit.model import Attribution, Card, Episode, Stage, StageVerdict, Step


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """success: of the plan, executed faithfully on a fresh copy of the environment; steps: those it took."""

    success: bool
    steps: tuple[Step, ...]


PlanReplay = Callable[[Episode], Replayed | None]
"""Executes an episode's plan faithfully on a fresh copy and asks the verifier; None where there is no such copy."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EvidenceGate:
    """replay: the counterfactual that separates planning from the rest, where the environment offers it.

    Of a failure, without replay: a fault of the environment that was not made good → neither; steps that depart from
    the plan, arguments that come from nowhere, refusals by a tool → execution; else the plan, as what remains. With
    replay: the plan fails even when followed faithfully → planning, and both where the steps differ from the replayed
    ones; the plan succeeds → neither where the environment failed, else execution. A success is credited to both
    stages where a plan was followed, else to execution. Confidence is 0.9 by replay, 0.7 by a sign in the record and
    0.5 by elimination alone.
    """

    replay: PlanReplay | None = None

    @property
    def name(self) -> str:
        return "evidence+replay" if self.replay else "evidence"

    def __call__(self, episode: Episode, cards: Sequence[Card]) -> Attribution:
        outside, signs = external_faults(episode), [*departures(episode), *unsupported(episode), *complaints(episode)]
        replayed = self.replay(episode) if self.replay and episode.plan and not episode.success else None
        if episode.success:
            stage, confidence, reason = self._success(episode, signs)
        elif replayed is not None:
            stage, confidence, reason = self._by_replay(episode, replayed, outside)
        else:
            stage, confidence, reason = self._by_record(outside, signs)
        found = Attribution(
            episode_id=episode.id,
            stage=stage,
            confidence=confidence,
            success=bool(episode.success),
            reason=reason,
        )
        helped, misleading = _cards(episode, cards, found)
        lessons = {} if episode.success else lessons_of(episode, found.stages, signs)
        return replace(found, lessons=lessons, helped=helped, misleading=misleading)

    @staticmethod
    def _success(episode: Episode, signs: Sequence[Finding]) -> tuple[StageVerdict, float, str]:
        if episode.plan and not any(sign.kind in ("unplanned", "undone") for sign in signs):
            return "both", 0.7, "the plan was followed and it worked"
        return "execution", 0.7, "the steps worked without the plan" if episode.plan else "there was no plan"

    @staticmethod
    def _by_replay(episode: Episode, replayed: Replayed, outside: Sequence[Finding]) -> tuple[StageVerdict, float, str]:
        if not replayed.success:
            if same_steps(episode, replayed.steps):
                return "planning", 0.9, "the plan fails also when it is followed faithfully, as it was"
            return "both", 0.9, "the plan fails when it is followed faithfully, and the steps departed from it"
        if outside:
            return "neither", 0.9, f"the plan works, and {_told(outside[0])}"
        return "execution", 0.9, "the plan works when it is followed faithfully"

    @staticmethod
    def _by_record(outside: Sequence[Finding], signs: Sequence[Finding]) -> tuple[StageVerdict, float, str]:
        if outside:
            return "neither", 0.7, _told(outside[0])
        if signs:
            return "execution", 0.7, _told(signs[0])
        return "planning", 0.5, "the steps follow the plan and nothing went wrong in them"


def _told(finding: Finding) -> str:
    where = f"step {finding.step} ({finding.tool})" if finding.step else "the plan"
    says = {
        "external": f"{where} met a fault of the environment: {finding.told}",
        "unplanned": f"{where} is not in the plan",
        "undone": f"a sentence of the plan got no step: {finding.told}",
        "unsupported": f"{where} was given {finding.argument} = {finding.told!r}, which stands nowhere before",
        "refused": f"{where} was refused: {finding.told}",
    }
    return says[finding.kind]


def _cards(episode: Episode, cards: Sequence[Card], found: Attribution) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Cards cited in a stage that earned the success helped; those cited in a stage that is to blame misled."""
    bank_of = {card.id: card.bank for card in cards}
    cited = dict.fromkeys(id_ for citation in episode.citations for id_ in citation.cards)
    named: set[Stage | str] = set(found.stages)
    acting = tuple(id_ for id_ in cited if bank_of.get(id_) in named)
    return (acting, ()) if episode.success else ((), acting)
