"""One card for one thing said, and never one for two."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterwit.model.said import nearly_said, said

SAME = [
    ("Ask a question first.", "Ask a question first"),
    ("Ask a question first.", "Ask a question first......"),
    ("Ask a question first.", "ask a  QUESTION first…"),
    ("Ask a question first.", "Ask a question first !"),
    ("Ask a question first.", "“Ask a question first.”"),
    ("Ask a question first.", "- Ask a question first;"),
    ("Ask a question first.", "**Ask a question first**"),
    ("Ask a question first.", "Ask a question, first."),
    ("Ask a question first.", "Ａｓｋ a question\u00a0first．"),
    ("Ask a question first.", "Ask a ques\u00adtion first.\u200b"),
    ("Straße", "STRASSE."),
    ("café", "cafe\u0301!"),
    ("ﬁrst things", "First things."),
    ("Don't ask", "don’t ask."),
    ("5 % off", "5% off"),
    ("5–10 words", "5-10 words."),
    ("half-price films", "Half price films."),
    ("Vraiment ?", "vraiment\u00a0?"),
    ("先提问。", "先提问"),
    ("$ 5 off", "$5 off."),
    ("Mention price (and date).", "Mention price, and date"),
]

TWO = [
    ("Do ask.", "Don't ask."),
    ("Ask.", "Never ask."),
    ("5 % off", "50 % off"),
    ("5 % off", "5 off"),
    ("-5 degrees", "5 degrees"),
    ("−5 degrees", "5 degrees"),
    ("Write C.", "Write C++."),
    ("Write C.", "Write C#."),
    ("Write C++.", "Write C#."),
    ("Use .NET", "Use net"),
    ("3.5 stars", "35 stars"),
    ("3.5 stars", "3 5 stars"),
    ("1,000 words", "1000 words"),
    ("10² items", "102 items"),
    ("1½ hours", "11/2 hours"),
    ("$5 off", "€5 off"),
    ("Prefer “?”.", "Prefer “!”."),
    ("Use ? in titles", "Use ! in titles"),
    ("Run with -v", "Run with v"),
    ("A/B tests", "AB tests"),
    ("#sale posts", "sale posts"),
    ("@ana writes", "ana writes"),
    ("résumé", "resume"),
    ("Paid?", "Paid."),
    ("a != b", "a = b"),
    ("re-sign it", "resign it"),
    ("It's its own.", "Its its own."),
    ("at 12:30", "at 1230"),
    ("v1.2", "v12"),
    ("R&D", "RD"),
    ("nicht fragen", "fragen"),
    ("要提问", "不要提问"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spelling_space_and_punctuation_make_no_second_card(one: str, other: str) -> None:
    assert said(one) == said(other)


@pytest.mark.parametrize(("one", "other"), TWO)
def test_negation_numbers_names_and_spoken_marks_stay_two(one: str, other: str) -> None:
    assert said(one) != said(other)
    assert nearly_said(one) != nearly_said(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ask a question first.", "Ask the question first"),
        ("Ask a question first.", "Please ask a question first."),
        ("Use an offer", "Use the offer."),
        ("Kindly name the price", "Name a price"),
        ("The price comes first", "Price comes first"),
    ],
)
def test_articles_and_politeness_are_nearly_the_same(one: str, other: str) -> None:
    assert nearly_said(one) == nearly_said(other)
    assert said(one) != said(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("nowhere to go", "no where to go"),
        ("It is notable", "It is not able"),
        ("wait 5 0 times", "wait 50 times"),
        ("Ask before noon", "Ask after noon"),
        ("Ana asks Ben", "Ben asks Ana"),
        ("Prefer red", "Prefer blue"),
        ("Choose plan A first", "Choose plan first"),
        ("Device A is old", "Device is old"),
        ("increase the price", "decrease the price"),
    ],
)
def test_what_is_near_in_letters_alone_stays_two(one: str, other: str) -> None:
    assert nearly_said(one) != nearly_said(other)


@given(st.text())
def test_it_is_stable_and_never_empty_for_a_text(text: str) -> None:
    found = said(text)
    assert said(found) == said(said(found))
    assert bool(found) == bool(text.strip()) or not found.strip()
    assert nearly_said(text) == nearly_said(text)
