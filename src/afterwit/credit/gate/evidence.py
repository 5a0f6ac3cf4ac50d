"""The evidence gate: deterministic, by elimination from the record (design section 8)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afterwit.credit.gate.compare import PlanReplay, Replayed, departed, departed_before, differences
from afterwit.credit.gate.lessons import lessons_of
from afterwit.credit.gate.record import Finding, complaints, departures, external_faults, unsupported
from afterwit.model import Attribution, Card, Episode, Stage, StageVerdict

__all__ = ["EvidenceGate", "PlanReplay", "Replayed"]


@dataclass(frozen=True, kw_only=True, eq=False)
class EvidenceGate:
    """replay: the counterfactual that separates planning from the rest, where the environment offers it.

    Of a failure, without replay: a fault of the environment that was not made good → neither; steps that depart from
    the plan, arguments that come from nowhere, refusals by a tool → execution; else the plan, as what remains. With
    replay: the plan fails even when followed faithfully → planning, and both where the steps depart from the replayed
    ones; the plan succeeds → neither where the environment failed before any departure, else execution. A success is
    credited to both stages where a plan was followed, else to execution. Confidence is 0.9 by replay, 0.7 by a sign in
    the record and 0.5 by elimination alone.
    """

    replay: PlanReplay | None = None

    @property
    def name(self) -> str:
        return "evidence+replay" if self.replay else "evidence"

    def __call__(self, episode: Episode, cards: Sequence[Card]) -> Attribution:
        outside = external_faults(episode)
        signs, replayed = signs_of(episode, self.replay)
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
        helped, misleading = _cards(episode, cards, found, signs[0].step if signs else 0)
        lessons = {} if episode.success else lessons_of(episode, found.stages, signs, replayed)
        return replace(found, lessons=lessons, helped=helped, misleading=misleading)

    @staticmethod
    def _success(episode: Episode, signs: Sequence[Finding]) -> tuple[StageVerdict, float, str]:
        if episode.plan and not any(sign.kind in ("unplanned", "undone") for sign in signs):
            return "both", 0.7, "the plan was followed and it worked"
        return "execution", 0.7, "the steps worked without the plan" if episode.plan else "there was no plan"

    @staticmethod
    def _by_replay(episode: Episode, replayed: Replayed, outside: Sequence[Finding]) -> tuple[StageVerdict, float, str]:
        if not replayed.success:
            if departed(episode, replayed):
                return "both", 0.9, "the plan fails when it is followed faithfully, and the steps departed from it"
            return "planning", 0.9, "the plan fails also when it is followed faithfully, as it was"
        if outside and not departed_before(episode, replayed, outside[0].step):
            return "neither", 0.9, f"the plan works, and {_told(outside[0])}"
        if departed(episode, replayed):
            return "execution", 0.9, "the plan works when it is followed faithfully, and the steps departed from it"
        return "execution", 0.5, "the plan works when it is followed faithfully; where the steps failed does not show"

    @staticmethod
    def _by_record(outside: Sequence[Finding], signs: Sequence[Finding]) -> tuple[StageVerdict, float, str]:
        if outside:
            return "neither", 0.7, _told(outside[0])
        if signs:
            return "execution", 0.7, _told(signs[0])
        return "planning", 0.5, "the steps follow the plan and nothing went wrong in them"


def signs_of(episode: Episode, replay: PlanReplay | None) -> tuple[list[Finding], Replayed | None]:
    """What shows of the execution, from a replay of a failed plan first, and that replay."""
    signs = [*departures(episode), *unsupported(episode), *complaints(episode.steps)]
    replayed = replay(episode) if replay and episode.plan and not episode.success else None
    return ([*differences(episode, replayed), *signs] if replayed else signs), replayed


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


def _cards(
    episode: Episode, cards: Sequence[Card], found: Attribution, fault: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Cards cited in a stage that earned the success helped; those cited in a stage that is to blame misled, except for
    those cited for another step than the one at fault. The bank says of which stage a card is, and in a bank that both
    share what it was cited for."""
    bank_of = {card.id: card.bank for card in cards}
    acting = []
    for citation in episode.citations:
        for id_ in citation.cards:
            bank = bank_of.get(id_)
            stage = bank if bank in ("planning", "execution") else _stage_of(citation.decision)
            spared = stage == "execution" and not episode.success and _elsewhere(citation.decision, fault)
            if bank is not None and stage in found.stages and not spared:
                acting.append(id_)
    once = tuple(dict.fromkeys(acting))
    return (once, ()) if episode.success else ((), once)


def _stage_of(decision: str) -> Stage:
    return "planning" if decision in ("plan", "planning") else "execution"


def _elsewhere(decision: str, fault: int) -> bool:
    return fault > 0 and decision.startswith("step ") and decision != f"step {fault}"
