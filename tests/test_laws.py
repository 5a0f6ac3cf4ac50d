"""The six laws (design section 1) over small histories made by chance.

Law 6 speaks of text that a model writes. So far a model's text reaches the memory through ``add(trust="model")`` and
its drafts through the generator: those are the doors that are tried here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from afterwit import Draft, Memory, Task
from afterwit.errors import InputError
from afterwit.model import Card, Decision
from afterwit.ports import HashEmbedder
from history_cases import EFFECTS, Evolved, Said, Shown, histories, lived
from round_cases import DAY, SCOPE, START, claims, know, open_memory, snapshot, trials, without_new_ids

lawful = settings(
    max_examples=4,
    phases=(Phase.explicit, Phase.generate),  # to shrink a history takes minutes
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)


@contextmanager
def remembering(now: datetime = START, **settings: Any) -> Iterator[Memory]:
    with TemporaryDirectory() as folder, open_memory(Path(folder), now, **settings) as memory:
        yield memory


# 1. No credit without use


class Says:
    """A frozen generator that says “magic” iff the one card that it heeds for the task is in its prompt."""

    def __init__(self) -> None:
        self.heeds: dict[str, str] = {}

    def __call__(self, task: Task, cards: list[Card], *, seed: int = 0) -> Draft:
        heeded = any(card.id == self.heeds[task.text] for card in cards)
        return Draft(
            output="magic" if heeded else "plain",
            decisions=(Decision(name="word", value="magic"),) if heeded else (),
        )


EPISODES = st.fixed_dictionaries(
    {
        "recalled": st.sampled_from([True, True, True, False]),
        "cited": st.lists(st.sampled_from([0, 1]), unique=True, max_size=2),
        "heeded": st.sampled_from([0, 1]),
        "decision": st.sampled_from([*[("word", "magic")] * 3, ("tone", "calm"), None]),
        "success": st.sampled_from([True, False, None]),
    }
)


def served(*, recalled: bool = True, cited: list[int], heeded: int = 0, **rest: Any) -> dict[str, Any]:
    return {
        "recalled": recalled,
        "cited": cited,
        "heeded": heeded,
        "decision": ("word", "magic"),
        "success": True,
    } | rest


@lawful
@given(episodes=st.lists(EPISODES, min_size=3, max_size=6))
@example(episodes=[served(cited=[0]), served(cited=[1]), served(cited=[0, 1], heeded=1)])
@example(
    episodes=[served(cited=[0], recalled=False), served(cited=[0], success=None), served(cited=[0], decision=None)]
)
def test_law_1_no_credit_without_use(episodes: list[dict[str, Any]]) -> None:
    generator = Says()
    with remembering(generator=generator) as memory:
        cards = [memory.add(text, key="push") for text in ("Say magic.", "Be brief.")]
        uses = dict.fromkeys((card.id for card in cards), 0)
        for number, task in enumerate(episodes):
            with memory.episode(f"push {number}") as episode:
                recalled = episode.recall() if task["recalled"] else ()
                cited = [cards[i] for i in task["cited"]] if recalled else []
                if task["decision"]:
                    episode.decide(*task["decision"], because=cited)
                episode.finish(success=task["success"])
            generator.heeds[f"push {number}"] = heeded = cards[task["heeded"]].id
            uses[heeded] += (
                task["decision"] == ("word", "magic")
                and heeded in [card.id for card in cited]
                and task["success"] is not None
            )
        made = memory.evolve()
        assert sum(credit.weight for credit in made.credits) == sum(uses.values())
        assert all(credit.reason for credit in made.credits)
        assert {card.id: card.uses for card in memory.cards()} == uses


# 2. No edit without provenance


LEARNS = Shown(count=40, effects={"magic": 0.5, "tonic": 0.0}, noise=0)
CONFIRMS = [LEARNS, Evolved(final=False, approval=False), LEARNS, Evolved(final=True, approval=False)]


@lawful
@given(history=histories())
@example(history=CONFIRMS)
def test_law_2_every_live_card_knows_where_it_comes_from(history: list[Any]) -> None:
    with remembering() as memory:
        for _ in lived(memory, history):
            pass
        rounds = {made.id: made for made in memory.rounds()}
        edits = memory._store.edits(SCOPE)
        known = {card.id for edit in edits for card in edit.writes}
        evidence = {row.id for made in rounds.values() for row in made.evidence}
        for made in rounds.values():
            for edit in made.edits:
                assert set(edit.parents) <= known
                assert edit.reason
                for card in edit.writes:
                    origin = card.provenance
                    assert origin.round_id == made.id
                    # What takes the place of a revised or split card is admitted by that very edit.
                    assert origin.operator in (edit.operator, "admit")
                    assert set(origin.parents) <= known
                    assert set(origin.evidence) <= evidence
                    assert origin.evidence or origin.trust == "user" or edit.operator == "restore"
        for card in memory.cards():
            assert card in [written for edit in memory.history(card.id) for written in edit.writes]


# 3. Strictly future


@lawful
@given(
    effects=EFFECTS,
    after=EFFECTS,
    turn=st.integers(0, 70),
    seed=st.integers(0, 3),
    final=st.booleans(),
    recounted=st.lists(st.integers(0, 79), max_size=20),
)
def test_law_3_what_was_available_later_never_alters_a_round(
    effects: dict[str, float], after: dict[str, float], turn: int, seed: int, final: bool, recounted: list[int]
) -> None:
    then = START + turn * DAY
    past = [
        row | {"observed": datetime.fromisoformat(row["created_at"]) + 7 * DAY}
        for row in trials(40, effects, seed=seed)
    ]
    again = [
        row | {"clicks": row["clicks"] * 3, "observed": max(row["observed"], then) + DAY}
        for row in (past[i] for i in recounted)
    ]
    later = trials(40, after, first=turn + 1, seed=seed + 9)
    later = [row | {"delivery_id": f"l{row['delivery_id']}", "experiment": f"l{row['experiment']}"} for row in later]
    found = []
    for rows in (
        [row for row in past if row["observed"] <= then],
        [*again, *later, *past],
    ):
        with remembering(then) as memory:
            know(memory, [row for row in rows if row["created_at"] <= then.isoformat()])
            memory.add("Say magic.", key="push", prefer="word=magic")
            know(memory, [row for row in rows if row["created_at"] > then.isoformat()])
            made = memory.evolve(as_of=then, final=final, dry_run=True)
            unripe = [refusal for refusal in made.refused if "items, such as" in refusal.subject]
            known = replace(made, refused=tuple(r for r in made.refused if r not in unripe))
            found.append(without_new_ids(known))
    assert found[0] == found[1]


# 4. "Insufficient" is an answer


@pytest.mark.parametrize("thin", ["few tests", "few views", "not ripe"])
@settings(lawful, max_examples=3)
@given(count=st.integers(0, 19), effects=EFFECTS, final=st.booleans())
def test_law_4_thin_evidence_changes_nothing_and_says_why(
    thin: str, count: int, effects: dict[str, float], final: bool
) -> None:
    count += 0 if thin == "few tests" else 21  # one fewer than 20 strata in which a decision must vary, or enough
    rows = trials(count, effects, views=99 if thin == "few views" else 3000)
    if thin == "not ripe":
        rows = [row | {"created_at": START.isoformat(), "observed": START + DAY} for row in rows]
    with remembering(START + (6 if thin == "not ripe" else 90) * DAY) as memory:
        memory.add("Say magic.", key="push", prefer="word=magic")
        memory.add("No tonic.", key="push", avoid="word=tonic")
        know(memory, rows)
        before = claims(memory.cards())
        made = memory.evolve(final=final)
        assert made.edits == ()
        assert claims(memory.cards()) == before
        assert made.refused
        assert all(refusal.reason and refusal.verdict for refusal in made.refused)
        unripe = sum(refusal.figures.get("items", 0) for refusal in made.refused)
        assert unripe + made.figures["items"] == len(rows)  # every item is learned from, or refused


# 5. Bounded always


@lawful
@given(history=histories(), capacity=st.integers(1, 5))
@example(history=[*(Said(text=f"Say it {n}.", word=f"w{n}", prefer=True) for n in range(3)), LEARNS], capacity=2)
@example(history=[Said(text=" ".join(f"w{n}" for n in range(40)), word="w", prefer=True)], capacity=1)
def test_law_5_capacity_holds_after_every_commit(history: list[Any], capacity: int) -> None:
    with remembering(capacity=capacity) as memory:
        for _ in lived(memory, history):
            live = memory.cards()
            assert len(live) <= capacity
            assert sum(card.tokens for card in live) <= 60 * capacity == memory.capacity.tokens
            assert memory.check() == ()


# 6. The model proposes, evidence disposes


@lawful
@given(history=histories())
def test_law_6_the_whole_loop_runs_without_a_model_and_words_its_own_cards(history: list[Any]) -> None:
    with remembering() as memory:
        for _ in lived(memory, history):
            pass
        for card in memory.cards():
            if card.provenance.trust == "evidence":
                assert card.stance
                verb = "Prefer" if card.stance.prefer else "Avoid"
                assert card.guidance.startswith(f"{verb} ")
                assert card.stance.decision.partition("=")[2].split("+")[0] in card.guidance
                assert card.tokens <= 60


LOOPS = st.builds(
    lambda words, times: " ".join(words * times),
    st.lists(st.text("ab", min_size=1), min_size=1, max_size=4),
    st.integers(10, 40),
)


@pytest.fixture(scope="module")
def roomy() -> Iterator[Memory]:
    """One for all examples: each leaves no live card behind."""
    with Memory(":memory:", scope=SCOPE, capacity=100_000, embedder=HashEmbedder()) as opened:
        yield opened


@settings(lawful, max_examples=25)
@given(text=st.one_of(st.text(max_size=60), st.text("ab ", min_size=3990, max_size=4020), LOOPS))
def test_law_6_text_of_a_model_is_kept_whole_or_refused_aloud(roomy: Memory, text: str) -> None:
    before = snapshot(roomy)
    refused = refusal_of(roomy, text)
    if refused is not None:
        assert not text.strip() or len(text) > 4000 or "repeats" in refused
        assert "\n" not in refused
        assert snapshot(roomy) == before
    else:
        (card,) = roomy.cards()
        assert card.guidance == text
        assert card.provenance.trust == "model"
        assert 0 < len(text) <= 4000
        roomy.delete(card.id)


def refusal_of(memory: Memory, text: str) -> str | None:
    try:
        memory.add(text, key="push", trust="model")
    except InputError as error:
        return str(error)
    return None
