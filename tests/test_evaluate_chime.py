"""The CHIME protocol on a toy world: who learns what, from which tasks, and how it is counted."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from afterwit.evaluate.chime.policies import StagePolicy, policies
from afterwit.evaluate.chime.protocol import ChimeRules, run_policy, streams
from afterwit.evaluate.chime.score import scored
from afterwit.evaluate.chime.world import StageRecall
from afterwit.model import Attribution, Card, Citation, Episode, Lesson, Stage, Step
from afterwit.ports import HashEmbedder

KINDS = ("refund", "cancel", "upgrade", "rebook", "exchange")
RULES = ChimeRules(orders=2)


@dataclass
class ToyWorld:
    """Tasks of five kinds. An agent errs in planning on even kinds and in execution on odd ones, unless a card of that
    stage names the kind. served: what was served, in order."""

    name: str = "toy"
    served: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.domains = {
            "shop": tuple(f"{KINDS[i % 5]} {i}" for i in range(40)),
            "air": tuple(f"{KINDS[i % 5]} {i}" for i in range(50)),
        }

    def serve(self, domain: str, task: str, recall: StageRecall, *, seed: int) -> Episode:
        self.served.append((domain, task))
        kind = task.split()[0]
        stage: Stage = "planning" if KINDS.index(kind) % 2 == 0 else "execution"
        found = {s: [c for c in recall(s, kind) if f"{s} {kind}" in c.guidance] for s in ("planning", "execution")}
        good = bool(found[stage])
        cited = [Citation(decision=s, cards=tuple(c.id for c in cards)) for s, cards in found.items() if cards]
        return Episode(
            id=task,
            scope="toy",
            task=task,
            started_at=datetime(2026, 1, 1, tzinfo=UTC),
            plan="do it",
            steps=(Step(tool=kind),),
            success=good,
            citations=tuple(cited),
        )

    def true(self, card: Card) -> bool | None:
        kind = card.key
        stage = "planning" if KINDS.index(kind) % 2 == 0 else "execution"
        return f"{stage} {kind}" in card.guidance


def lessons(kind: str, stages: Sequence[Stage]) -> dict[Stage, Lesson]:
    return {s: Lesson(stage=s, key=kind, condition=f"the task is to {kind}", action=f"mind {s} {kind}") for s in stages}


@dataclass(frozen=True)
class ToyGate:
    """Knows the cause. everywhere: writes for both stages, as the lesson writer of policies without attribution."""

    everywhere: bool = False
    name: str = "toy"

    def __call__(self, episode: Episode, cards: Sequence[Card]) -> Attribution:
        kind = episode.task.split()[0]
        stage: Stage = "planning" if KINDS.index(kind) % 2 == 0 else "execution"
        stages: tuple[Stage, ...] = ("planning", "execution") if self.everywhere else (stage,)
        cited = {c for citation in episode.citations if citation.decision == stage for c in citation.cards}
        return Attribution(
            episode_id=episode.id,
            stage=stage,
            confidence=0.9,
            success=bool(episode.success),
            lessons={} if episode.success else lessons(kind, stages),
            helped=tuple(sorted(cited)) if episode.success else (),
            reason="by construction",
        )


ALL = policies(ToyGate(), ToyGate(everywhere=True), ToyGate(everywhere=True))


def policy(name: str) -> StagePolicy:
    return next(p for p in ALL if p.name == name)


def test_streams_are_cut_to_the_smallest_and_split_in_order() -> None:
    found = streams(ToyWorld(), ChimeRules(orders=3))
    for orders in found.values():
        assert [(len(early), len(late)) for early, late in orders] == [(28, 12)] * 3
        assert all(not set(early) & set(late) for early, late in orders)
        assert len({tuple(early) for early, _ in orders}) == 3
    assert found == streams(ToyWorld(), ChimeRules(orders=3))


def test_memory_learns_along_the_stream_and_is_frozen_for_the_rest() -> None:
    world = ToyWorld()
    shop, air = run_policy(world, policy("chime"), HashEmbedder(), rules=RULES)
    assert shop.domain == "shop"
    assert [one.success for one in shop.judged].count(True) == len(shop.judged)
    assert set(shop.kept) == {5}, "one memory a kind"
    assert shop.points[0.25][1] <= shop.points[1.0][1] == 1.0
    early, late = streams(world, RULES)["shop"][0]
    judged = [one.task for one in shop.judged if one.order == 0]
    assert judged == late
    assert not set(early) & set(judged)
    assert run_policy(ToyWorld(), policy("chime"), HashEmbedder(), rules=RULES) == (shop, air)


def test_no_memory_learns_nothing() -> None:
    runs = run_policy(ToyWorld(), policy("none"), HashEmbedder(), rules=RULES)
    assert all(not one.success and not one.cards for run in runs for one in run.judged)
    assert {count for run in runs for count in run.kept} == {0}


@pytest.mark.parametrize(("name", "helps"), [("chime:no_planning", "execution"), ("chime:no_execution", "planning")])
def test_without_a_bank_its_stage_learns_nothing(name: str, helps: Stage) -> None:
    for run in run_policy(ToyWorld(), policy(name), HashEmbedder(), rules=RULES):
        assert {card.bank for card in run.banks} == {helps}
        for one in run.judged:
            assert one.success == ((KINDS.index(one.task.split()[0]) % 2 == 0) == (helps == "planning"))


def test_append_only_keeps_every_failure_and_chime_one_a_kind() -> None:
    runs = {p.name: run_policy(ToyWorld(), p, HashEmbedder(), rules=RULES) for p in ALL}
    figures = scored(runs, ALL, ToyWorld(), HashEmbedder(), seed=13)
    assert set(figures) == {p.name for p in ALL}
    assert figures["chime"]["success"].value == 1.0
    assert figures["chime"]["memories"].value == 5
    assert figures["outcome_only"]["memories"].value == 10, "two for every failure, none for a success"
    assert figures["chime"]["correct"].value == 1.0
    assert figures["chime:no_attribution"]["correct"].value == pytest.approx(0.5)
    gain = figures["chime"]["gain@none"]
    assert (gain.value, gain.low, gain.high) == (1.0, 1.0, 1.0)
    assert [name for name in figures["outcome_only"] if name.startswith("gain")] == ["gain@none"]
    assert figures["chime"]["success@shop"].n == 24
    assert figures["chime"]["distinct"].value == 1.0
    assert figures["outcome_only"]["distinct"].value == 0.0
