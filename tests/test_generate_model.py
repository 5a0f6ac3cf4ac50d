"""Models that write, choose and read: what is taken from an answer, and what is not."""

import re
from datetime import UTC, datetime

import pytest

from afterwit.decisions.reading import Read, Reader
from afterwit.decisions.vocabulary import Entry, Vocabulary
from afterwit.errors import OutputError
from afterwit.generate.model import Chosen, ModelGenerator, Written
from afterwit.model import Ask, Card, Provenance, Stance, Task, content_hash
from afterwit.recall.render import render

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def card(id_: str, decision: str | None = None, *, prefer: bool = True) -> Card:
    return Card(
        id=id_,
        scope="a",
        key="push",
        guidance=f"guidance of {id_}",
        stance=Stance(decision=decision, prefer=prefer) if decision else None,
        provenance=Provenance(operator="add"),
        created_at=NOW,
        valid_from=NOW,
    )


def short(id_: str) -> str:
    return content_hash(id_)[:8]


CARDS = [card("a", "hook=question"), card("b", "len=long", prefer=False), card("c")]


def generator(*, followed: list[str], choice: int = 1) -> tuple[ModelGenerator, list[Ask]]:
    asked: list[Ask] = []

    def written(ask: Ask) -> Written:
        asked.append(ask)
        return Written(output="Films at half price?", followed=followed)

    def chosen(ask: Ask) -> Chosen:
        asked.append(ask)
        return Chosen(choice=choice, followed=followed)

    return ModelGenerator(written=written, chosen=chosen, render=render, model="m"), asked


def test_what_is_followed_is_cited_for_its_decision_and_foreign_ids_are_nothing() -> None:
    followed = [f"[{short('a')}]", short("b"), short("c"), "deadbeef", short("a")]
    makes, asked = generator(followed=followed)
    draft = makes(Task(text="push", context={"channel": "push"}), CARDS, seed=3)
    assert draft.output == "Films at half price?"
    assert {c.decision: c.cards for c in draft.citations} == {
        "hook=question": ("a",),
        "not:len=long": ("b",),
        f"note={short('c')}": ("c",),
    }
    assert {d.key for d in draft.decisions} == {c.decision for c in draft.citations}
    prompt = asked[0].messages[1].content
    assert "Context: channel = push" in prompt
    assert f"[{short('a')}] guidance of a" in prompt
    assert asked[0].seed == 3


def test_a_choice_is_one_of_the_candidates_or_refused() -> None:
    task = Task(text="push", candidates=("one", "two"))
    assert generator(followed=[], choice=2)[0](task, []).output == "two"
    with pytest.raises(OutputError, match="candidate 3 was chosen of 2"):
        generator(followed=[], choice=3)[0](task, [])


def test_the_same_question_has_the_same_key_and_a_card_less_another() -> None:
    makes, asked = generator(followed=[])
    for cards in (CARDS, CARDS, CARDS[1:]):
        makes(Task(text="push"), cards)
    keys = [ask.key("m") for ask in asked]
    assert keys[0] == keys[1] != keys[2]


def test_a_reader_takes_known_keys_alone() -> None:
    entries = [
        Entry(name="hook", value=value, pattern=re.compile("never"), description=f"a {value} hook")
        for value in ("question", "list")
    ]
    asked: list[Ask] = []

    def answer(ask: Ask) -> Read:
        asked.append(ask)
        return Read(shown=["Hook=Question", "hook=unknown"])

    reads = Reader(answer=answer, vocabulary=Vocabulary(entries=tuple(entries)))
    assert reads.shown("Would you?") == {"hook=question"}
    assert "- hook=list: a list hook" in asked[0].messages[0].content
