"""Cards worded by a model: what may be said, what is refused, and that nothing else changes."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from afterwit.errors import BudgetSpent, InputError, OutputError
from afterwit.evolve.worded.checks import Allowed, why_refused
from afterwit.evolve.worded.reword import Assessment, Sentence, Worder, reword
from afterwit.evolve.worded.templates import FIELDS, OPERATORS, Templates
from afterwit.model import Ask, Card, Condition, Edit, Posterior, Provenance, Round, Stance

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def card(
    id_: str = "k", *, guidance: str = "Prefer a question at the end.", prefer: bool = True, when: str = ""
) -> Card:
    return Card(
        id=id_,
        scope="a",
        key="a question at the end",
        guidance=guidance,
        when=Condition.of(when or None),
        stance=Stance(decision="hook=question", prefer=prefer),
        fitness={"click": Posterior(mean=0.05, sd=0.01, strata=40)},
        provenance=Provenance(operator="admit", evidence=("e",), round_id="r"),
        created_at=NOW,
        valid_from=NOW,
    )


def round_of(*edits: Edit) -> Round:
    return Round(id="r", scope="a", bank="content", as_of=NOW, base_version=1, edits=edits)


def admit(made: Card) -> Edit:
    return Edit(id="e1", operator="admit", writes=(made,), evidence=("e",), reason="P(sign) 0.99")


def worder(say: Callable[[Ask], str], *, verdict: str = "leave", **settings: object) -> Worder:
    def assessment(ask: Ask) -> Assessment:
        marks = dict.fromkeys(("reliability", "usefulness", "responsibility", "redundancy", "conflict", "recency"), 40)
        return Assessment.model_validate({**marks, "verdict": verdict})

    def sentence(ask: Ask) -> Sentence:
        return Sentence(sentence=say(ask))

    return Worder(sentence=sentence, assessment=assessment, templates=Templates.load(), **settings)  # type: ignore[arg-type]


def test_a_proposal_that_passes_becomes_the_card_s_sentence_and_nothing_else_changes() -> None:
    made = card()
    done = reword(round_of(admit(made)), {}, worder(lambda _: "End on a question whenever you can."))
    ((worded,),) = (edit.writes for edit in done.edits)
    assert worded.guidance == "End on a question whenever you can."
    assert worded.provenance.trust == "model"
    assert replace(worded, guidance=made.guidance, provenance=made.provenance) == made
    assert done.refused == ()


def test_the_prompt_holds_evidence_condition_and_sources() -> None:
    asked: list[Ask] = []

    def say(ask: Ask) -> str:
        asked.append(ask)
        return ""

    parent, made = card("p", guidance="Ask something."), card(when="channel = push")
    edit = Edit(id="e", operator="revise", writes=(made,), parents=("p",), reason="conditional")
    reword(round_of(edit), {"p": parent}, worder(say))
    text = asked[0].messages[0].content
    for part in ("Ask something.", "channel = push", "click +5.1 % [+3.1, +7.2] over 40 tests", made.guidance):
        assert part in text
    assert (asked[0].purpose, asked[0].temperature) == ("revise", 0.0)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it says nothing"),
        ("A question at the end wins 37 % more.", "the number 37 is not in the evidence"),
        ("A question at the end works for mail.", "it names the context 'mail', which its condition does not hold"),
        ("A question at the end. " * 6, "it is longer than 30 tokens with its key"),
        ("A question\nat the end.", "it is more than one line"),
        ("Задайте вопрос в конце заголовка.", "it is in another script than its sources"),
        ("Always mention cats and dogs.", "it does not say what the evidence is about"),
        ("Never put a question at the end.", "it turns advice for something into advice against it"),
    ],
)
def test_what_the_evidence_does_not_hold_is_refused_and_the_sentence_stays(text: str, reason: str) -> None:
    made = card()
    done = reword(round_of(admit(made)), {}, worder(lambda _: text, values=frozenset(("mail", "push")), card_tokens=30))
    assert done.edits == (admit(made),)
    assert [(r.verdict, r.reason) for r in done.refused] == [("proposal refused", reason)]


@pytest.mark.parametrize(
    ("guidance", "text", "fine"),
    [
        ("Avoid a question at the end.", "Put a question at the end.", False),
        ("Avoid a question at the end.", "Don’t end on a question.", True),
        ("Préfère une question à la fin.", "Finis par une question à la fin.", True),
        ("用问句结尾。", "结尾用问句。", True),
    ],
)
def test_stance_and_language_are_kept(guidance: str, text: str, fine: bool) -> None:
    made = replace(card(guidance=guidance, prefer="void" not in guidance), key="k")
    assert (why_refused(text, made, Allowed(sources=(guidance,))) is None) == fine


def test_a_condition_may_be_named_by_the_card_that_has_it() -> None:
    made = card(when="channel = mail")
    done = reword(
        round_of(admit(made)), {}, worder(lambda _: "In mail, put a question at the end.", values=frozenset(("mail",)))
    )
    assert done.edits[0].writes[0].guidance == "In mail, put a question at the end."


def test_a_failing_model_leaves_the_round_as_it_was_and_is_named() -> None:
    def fail(_: Ask) -> str:
        raise OutputError("empty", "the answer is empty")

    done = reword(round_of(admit(card())), {}, worder(fail))
    assert done.edits == (admit(card()),)
    assert [r.reason for r in done.refused] == ["the answer is empty"]


def test_a_spent_budget_stops_asking_and_says_so_once() -> None:
    calls = []

    def fail(_: Ask) -> str:
        calls.append(1)
        raise BudgetSpent("10 calls are used up")

    done = reword(round_of(admit(card("a")), admit(card("b"))), {}, worder(fail))
    assert len(calls) == 1
    assert [r.verdict for r in done.refused] == ["not worded"]


def test_one_card_has_one_sentence_in_all_edits_of_a_round() -> None:
    made = card()
    later = Edit(id="e2", operator="reinforce", writes=(made.changed(value=0.4),), parents=("k",))
    done = reword(round_of(admit(made), later), {}, worder(lambda _: "End on a question."))
    assert [edit.writes[0].guidance for edit in done.edits] == ["End on a question."] * 2
    assert done.edits[1].writes[0].value == 0.4


@pytest.mark.parametrize(("verdict", "objects"), [("leave", False), ("keep", True)])
def test_an_eviction_is_assessed_and_an_objection_is_heard_but_does_not_decide(verdict: str, objects: bool) -> None:
    gone = replace(card(), version=2, status="retired")
    edit = Edit(id="e", operator="evict", writes=(gone,), parents=("k",), reason="null")
    done = reword(round_of(edit), {"k": card()}, worder(lambda _: "", verdict=verdict))
    assert done.edits[0].writes == (gone,)
    assert done.edits[0].reason.startswith(f"null; the model would {verdict}: reliability 40")
    assert bool(done.refused) == objects


def test_suspicious_text_is_refused() -> None:
    done = reword(
        round_of(admit(card())), {}, worder(lambda _: "A question at the end.", suspicion=lambda _: "it gives orders")
    )
    assert [r.reason for r in done.refused] == ["it gives orders"]


def test_templates_are_files_that_a_user_may_replace(tmp_path: Path) -> None:
    (tmp_path / "admit.md").write_text("Say {guidance} in {words} words.")
    found = Templates.load(tmp_path)
    assert found.fill("admit", guidance="this", words=5) == "Say this in 5 words."
    assert found.texts["merge"] == Templates.load().texts["merge"]
    assert set(found.texts) == set(OPERATORS)
    (tmp_path / "merge.md").write_text("{secret}")
    with pytest.raises(InputError, match=r"merge\.md names \{secret\}"):
        Templates.load(tmp_path)
    for name in OPERATORS:
        assert all(f"{{{field}}}" in "".join(Templates.load().texts.values()) for field in FIELDS), name
