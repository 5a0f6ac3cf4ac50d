"""Values to JSON and back: exact, canonical, and refused aloud where they do not fit."""

import json
import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterwit.errors import InputError
from afterwit.model import (
    Batch,
    Card,
    Clause,
    Condition,
    Credit,
    Decision,
    Delivery,
    Edit,
    Episode,
    Evidence,
    Posterior,
    Provenance,
    Recalled,
    Refusal,
    Round,
    Stance,
    Step,
    Trial,
)
from afterwit.store.codec import dumps, from_json, to_json

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.floats(allow_nan=False, allow_infinity=False)
times = st.datetimes(
    min_value=datetime.fromisoformat("0001-01-02"),
    max_value=datetime.fromisoformat("9999-12-30"),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=-7)), timezone(timedelta(minutes=345))]),
)
values = st.one_of(words, st.integers(-(2**53), 2**53), numbers, st.booleans())
contexts = st.dictionaries(words, values, max_size=3)


def tuples(of: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(of, max_size=3).map(tuple)


clauses = st.builds(Clause, field=words, operator=st.sampled_from(["in", "not in", ">=", "<"]), values=tuples(values))
operators = st.sampled_from(["admit", "merge", "add", "restore"])
cards = st.builds(
    Card,
    id=words,
    scope=words,
    key=words,
    guidance=words,
    version=st.integers(1, 99),
    when=st.builds(Condition, clauses=tuples(clauses)),
    stance=st.none() | st.builds(Stance, decision=words, prefer=st.booleans()),
    effect=numbers,
    fitness=st.dictionaries(
        words, st.builds(Posterior, mean=numbers, sd=numbers, strata=st.integers(0, 9)), max_size=2
    ),
    status=st.sampled_from(["provisional", "active", "retired"]),
    trial=st.none()
    | st.builds(Trial, admitted_at=times, needed=st.integers(0, 200), effect=numbers, tested_at=st.none() | times),
    provenance=st.builds(Provenance, operator=operators, parents=tuples(words), round_id=st.none() | words),
    cases=tuples(words),
    created_at=times,
    valid_from=times,
    valid_until=st.none() | times,
)
decisions = st.builds(Decision, name=words, value=words, source=st.sampled_from(["declared", "mined"]))
deliveries = st.builds(
    Delivery, id=words, scope=words, created_at=times, text=words, context=contexts, decisions=tuples(decisions)
)
json_values = st.recursive(
    st.none() | values, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2)
)
episodes = st.builds(
    Episode,
    id=words,
    scope=words,
    task=words,
    context=contexts,
    started_at=times,
    steps=tuples(st.builds(Step, tool=words, arguments=st.dictionaries(words, json_values, max_size=2))),
    recalled=tuples(
        st.builds(
            Recalled,
            card_id=words,
            version=st.just(1),
            bank=words,
            rank=st.just(0),
            similarity=numbers,
            score=numbers,
        )
    ),
)
edits = st.builds(Edit, id=words, operator=operators, writes=tuples(cards), parents=tuples(words), reason=words)
evidence = st.builds(
    Evidence,
    **dict.fromkeys(("id", "decision", "objective", "reason"), words),
    **dict.fromkeys(("effect", "se", "low", "high", "posterior_mean", "posterior_sd", "p_sign", "joint"), numbers),
    **{name: st.integers(0, 9) for name in ("df", "strata", "treated", "controls")},
    verdict=st.sampled_from(["supported", "null"]),
    split=st.none() | clauses,
)
rounds = st.builds(
    Round,
    id=words,
    scope=words,
    bank=words,
    as_of=times,
    base_version=st.integers(0, 99),
    edits=tuples(edits),
    evidence=tuples(evidence),
    credits=st.just((Credit(id="c", episode_id="e", card_id="k", decision="d", weight=0.5, kind="sole", reason=""),)),
    refused=tuples(
        st.builds(
            Refusal, subject=words, verdict=words, reason=words, figures=st.dictionaries(words, numbers, max_size=2)
        )
    ),
    batch=st.none()
    | st.builds(
        Batch,
        at=times,
        level=numbers,
        p_values=st.dictionaries(words, numbers, max_size=2),
        confirmed=tuples(words),
        max_rejections=st.integers(0, 9),
    ),
)


@given(st.one_of(cards, deliveries, episodes, rounds))
def test_every_value_round_trips_and_its_bytes_are_canonical(value: object) -> None:
    text = to_json(value)
    again = from_json(type(value), text)
    assert again == value
    assert to_json(again) == text
    assert dumps(json.loads(text)) == text


def test_times_keep_microseconds_and_come_back_in_utc() -> None:
    at = datetime(2014, 3, 30, 2, 30, 0, 1, tzinfo=timezone(timedelta(hours=1)))
    text = to_json(Delivery(id="d", scope="s", created_at=at))
    assert '"2014-03-30T01:30:00.000001+00:00"' in text
    assert from_json(Delivery, text).created_at.tzinfo is UTC


def test_field_report_18_text_stays_as_it_came_in_any_script() -> None:
    text = "café cafe\u0301 你好 مرحبا 👩‍👩‍👧 \x00"
    written = to_json(Delivery(id="d", scope="s", created_at=datetime.now(UTC), text=text))
    assert "你好" in written
    assert "\\u4f60" not in written
    assert from_json(Delivery, written).text == text


def test_figures_that_json_lacks_survive_as_evidence() -> None:
    refusal = Refusal(subject="s", verdict="v", reason="r", figures={"effect": math.nan, "low": -math.inf})
    again = from_json(Refusal, to_json(refusal))
    assert math.isnan(again.figures["effect"])
    assert again.figures["low"] == -math.inf


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, "unknown field 'colour'"),
        ({"id": None}, "expected str"),
        ({"created_at": "yesterday"}, "not a time"),
        ({"created_at": "2014-01-01T00:00:00"}, "no timezone"),
        ({"propensity": "often"}, "expected a number"),
        ({"decisions": "hook"}, "expected a list"),
        ({"decisions": [{"name": "a", "value": "b", "source": "guessed"}]}, "Decision: 'guessed' is none of"),
        ({"context": {"a": [1]}}, "expected"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, object], message: str) -> None:
    data = json.loads(to_json(Delivery(id="d", scope="s", created_at=datetime.now(UTC)))) | change
    with pytest.raises(InputError, match=message):
        from_json(Delivery, json.dumps(data))


def test_a_missing_field_is_named_unless_it_has_a_default() -> None:
    data = json.loads(to_json(Delivery(id="d", scope="s", created_at=datetime.now(UTC), text="t")))
    del data["text"]
    assert from_json(Delivery, json.dumps(data)).text == ""
    del data["scope"]
    with pytest.raises(InputError, match="missing field 'scope'"):
        from_json(Delivery, json.dumps(data))


@pytest.mark.parametrize("context", [{"a": math.nan}, {"a": object()}, {"a": "\ud800"}])
def test_what_json_cannot_hold_is_refused_when_written(context: dict[str, object]) -> None:
    with pytest.raises(InputError):
        to_json(Delivery(id="d", scope="s", created_at=datetime.now(UTC), context=context))


def test_naive_times_are_refused_when_written() -> None:
    with pytest.raises(InputError, match="no timezone"):
        to_json(Delivery(id="d", scope="s", created_at=datetime(2014, 1, 1)))  # noqa: DTZ001


def test_a_time_that_utc_cannot_hold_is_refused_in_one_line() -> None:
    first = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5)))
    with pytest.raises(InputError, match="outside the years 1 to 9999"):
        to_json(Episode(id="e", scope="s", task="t", started_at=first))
