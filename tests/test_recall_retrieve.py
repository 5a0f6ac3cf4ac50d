"""Recall: what is filtered, what is scored, and in which order it comes."""

import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterwit.errors import EmbedderMismatch, Refused, UsageError
from afterwit.model import Card, Condition
from afterwit.recall.index import BankIndex
from afterwit.recall.retrieve import Exploration, recall
from recall_cases import EMBED, NOW, bank_of, card, index_of, measured

TASK = "a push for the film membership"


def ids(cards: list[Card], *, name: str = "content", task: str = TASK, **options: object) -> list[str]:
    given = {"context": {}, "now": NOW, **options}
    return [c.id for c, _ in recall(index_of(cards, name=name), EMBED([task])[0], **given)]  # type: ignore[arg-type]


def words(text: str) -> frozenset[str]:
    return frozenset(f"word={word}" for word in text.split())


conditions = st.sampled_from([None, "channel = push", "channel = mail", "hour >= 9", "channel = push; hour < 20"])
moments = st.integers(-3, 3).map(lambda days: NOW + timedelta(days=days))
cards_of_any_kind = st.lists(
    st.builds(
        card,
        id=st.uuids().map(str),
        key=st.sampled_from([TASK, "a mail for the film membership", "an advert for shoes", "sms"]),
        when=conditions,
        value=st.floats(-2, 2),
        uses=st.integers(0, 9),
        bank=st.just("planning"),
        status=st.sampled_from(["active", "provisional", "retired"]),
        valid_from=moments,
        valid_until=st.none() | moments,
    ),
    max_size=40,
    unique_by=lambda c: c.id,
)
contexts = st.fixed_dictionaries(
    {}, optional={"channel": st.sampled_from(["push", "mail"]), "hour": st.integers(0, 23)}
)


@settings(max_examples=150, deadline=None)
@given(cards=cards_of_any_kind, context=contexts, k=st.integers(1, 30))
def test_only_live_valid_fitting_cards_come_and_the_best_of_them_in_order(
    cards: list[Card], context: dict[str, str | int], k: int
) -> None:
    found = recall(index_of(cards, name="planning"), EMBED([TASK])[0], context=context, now=NOW, k=k)
    able = [
        c
        for c in cards
        if c.status != "retired"
        and c.valid_from <= NOW
        and (c.valid_until is None or c.valid_until > NOW)
        and c.when.holds(context)
    ]
    # An oracle in plain Python: the 20 nearest, then by α·sim + β·clip(v·n/(n+λ)), ties by hash.
    near = {c.id: float(EMBED([c.key])[0] @ EMBED([TASK])[0]) for c in able}
    score = {c.id: near[c.id] + 0.2 * min(1, max(-1, c.value * c.uses / (c.uses + 3))) for c in able}
    pool = sorted(able, key=lambda c: (-round(near[c.id], 5), c.content_hash))[:20]
    best = sorted(pool, key=lambda c: (-round(score[c.id], 5), c.content_hash))[:k]
    assert [round(trace.score, 4) for _, trace in found] == pytest.approx([score[c.id] for c in best], abs=2e-4)
    assert {c.id for c, _ in found} <= {c.id for c in able}
    assert [trace.rank for _, trace in found] == list(range(1, len(best) + 1))


@settings(max_examples=60, deadline=None)
@given(cards=cards_of_any_kind, context=contexts, seed=st.randoms())
def test_the_order_of_the_bank_does_not_matter(cards: list[Card], context: dict[str, str | int], seed: object) -> None:
    shuffled = list(cards)
    seed.shuffle(shuffled)  # type: ignore[attr-defined]
    options = {"context": context, "now": NOW, "k": 5}
    assert ids(cards, name="planning", **options) == ids(shuffled, name="planning", **options)


@given(values=st.lists(st.floats(-1, 1), min_size=3, max_size=12), rise=st.floats(0, 2))
@settings(max_examples=60, deadline=None)
def test_a_higher_value_never_comes_later(values: list[float], rise: float) -> None:
    cards = [card(str(i), key=f"push {i}", value=value) for i, value in enumerate(values)]
    before = ids(cards, k=20, task="push")
    after = ids([replace(cards[0], value=values[0] + rise), *cards[1:]], k=20, task="push")
    assert after.index("0") <= before.index("0")


def test_a_score_by_hand() -> None:
    same = card("same", key="film push", bank="planning", value=0.8, uses=3)
    other = card("other", key="shoes", bank="planning", value=1.0, uses=9)
    found = recall(index_of([same, other], name="planning"), EMBED(["film push"])[0], context={}, now=NOW)
    first, second = (trace for _, trace in found)
    # v̂ = 0.8 · 3/6 = 0.4, so 1 + 0.2 · 0.4; the other: about 0 + 0.2 · 0.75
    assert (first.card_id, second.card_id) == ("same", "other")
    assert first.score == pytest.approx(1.08, abs=1e-5)
    assert second.score == pytest.approx(0.15, abs=1e-4)


def test_a_content_card_keeps_its_value_whole_and_clipped() -> None:
    found = recall(index_of([card("a", value=1.7)]), EMBED([TASK])[0], context={}, now=NOW)
    assert found[0][1].score == pytest.approx(1.2, abs=1e-5)


def test_similarity_dominates_value() -> None:
    near, far = card("near", key="film push", value=-0.4), card("far", key="shoes for winter", value=1.0)
    assert ids([far, near], task="film push", k=1) == ["near"]


def test_cards_of_one_key_tie_and_come_by_content_hash_wherever_they_stand() -> None:
    cards = [card(str(i), key=TASK) for i in range(300)]
    by_hash = [c.id for c in sorted(cards, key=lambda c: c.content_hash)]
    assert ids(cards, k=10) == by_hash[:10]
    assert ids(cards[::-1], k=10) == by_hash[:10]


def test_validity_is_exact_to_the_microsecond() -> None:
    moment = datetime(2026, 3, 1, 12, 0, 0, 999_999, tzinfo=UTC)
    tick = timedelta(microseconds=1)
    late, ended = card("late", valid_from=moment + tick), card("ended", valid_until=moment)
    on_time, lasting = card("on time", valid_from=moment), card("lasting", valid_until=moment + tick)
    assert set(ids([late, ended, on_time, lasting], now=moment, k=9)) == {"on time", "lasting"}


def test_the_filter_comes_before_the_pool() -> None:
    """A scope's few fitting cards are found behind hundreds of nearer ones that do not fit."""
    nearer = [card(f"n{i}", when="channel = mail") for i in range(400)]
    fitting = card("fits", key="something else entirely", when="channel = push")
    assert ids([*nearer, fitting], context={"channel": "push"}) == ["fits"]


def test_an_unknown_context_satisfies_no_condition() -> None:
    assert ids([card("a", when="channel = push")], context={}) == []


@pytest.mark.parametrize("stranger", [{"scope": "other/agent"}, {"bank": "planning"}])
def test_a_card_of_another_scope_or_bank_is_refused(stranger: dict[str, str]) -> None:
    with pytest.raises(Refused, match="belongs to"):
        index_of([card("mine"), card("stranger", **stranger)])  # type: ignore[arg-type]


def test_a_live_card_without_a_vector_is_refused_and_a_retired_one_is_left_out() -> None:
    vector = EMBED([TASK])
    with pytest.raises(Refused, match="has no vector"):
        BankIndex.build(bank_of([card("a"), card("b")]), ["a"], vector)
    index = BankIndex.build(bank_of([card("a"), card("b", status="retired")]), ["a"], vector)
    assert [c.id for c in index.cards] == ["a"]


def test_vectors_of_another_length_are_never_compared() -> None:
    with pytest.raises(EmbedderMismatch, match="512 dimensions and the bank 64"):
        recall(index_of([card("a")]), np.zeros(512, dtype=np.float32), context={}, now=NOW)


def test_an_empty_bank_gives_nothing() -> None:
    assert ids([]) == []


def test_cards_that_name_a_candidates_decision_all_come_first_by_effect() -> None:
    cards = [measured(f"w{i}", 0.01 * i, prefer=f"word=w{i}", key="shoes") for i in range(6)]
    rest = card("similar", key=TASK)
    given = {"candidates": ["w1 w2 w3 w4", "w5"], "shown": words}
    assert ids([*cards, rest], k=3, **given) == ["w5", "w4", "w3", "w2", "w1"]
    assert ids([*cards, rest], k=7, **given) == ["w5", "w4", "w3", "w2", "w1", "similar", "w0"]


def test_an_avoided_decision_matches_too_and_conditions_hold_for_matches() -> None:
    against = measured("against", -0.2, avoid="word=shocking")
    elsewhere = measured("elsewhere", 0.9, prefer="word=shocking", when="channel = mail")
    given = {"candidates": ["shocking news", "news"], "shown": words, "k": 1}
    assert ids([against, elsewhere], context={"channel": "push"}, **given) == ["against"]


def test_the_token_budget_cuts_whole_cards_from_the_end() -> None:
    cards = [measured(f"w{i}", 0.1 * (i + 1), prefer=f"word=w{i}") for i in range(4)]
    each = cards[0].tokens
    given = {"candidates": ["w0 w1 w2 w3"], "shown": words}
    assert ids(cards, token_budget=2 * each, **given) == ["w3", "w2"]
    assert ids(cards, token_budget=2 * each - 1, **given) == ["w3"]
    assert ids(cards, token_budget=0, **given) == []


def test_exploration_is_seeded_logged_and_of_the_stated_rate() -> None:
    cards = [card(str(i), key=f"push {i}") for i in range(20)]
    index = index_of(cards)
    traces = [
        trace
        for episode in range(100)
        for _, trace in recall(
            index,
            EMBED(["push"])[0],
            context={},
            now=NOW,
            k=20,
            exploration=Exploration(rate=0.3, seed=f"episode {episode}"),
        )
    ]
    assert {trace.propensity for trace in traces} == {0.3}
    # 2,000 draws: 0.3 ± 4 standard errors
    assert np.mean([trace.withheld for trace in traces]) == pytest.approx(0.3, abs=0.041)
    one = Exploration(rate=0.3, seed="episode 7")
    assert [one.withholds(c.id) for c in cards] == [one.withholds(c.id) for c in cards]


def test_withholding_a_card_changes_nothing_for_the_others() -> None:
    index = index_of([card(str(i), key=f"push {i}") for i in range(9)])
    options = {"context": {}, "now": NOW, "k": 5}
    plain = recall(index, EMBED(["push"])[0], **options)  # type: ignore[arg-type]
    explored = recall(index, EMBED(["push"])[0], exploration=Exploration(rate=0.5, seed="s"), **options)  # type: ignore[arg-type]
    assert [trace.card_id for _, trace in plain] == [trace.card_id for _, trace in explored]
    assert {trace.withheld for _, trace in explored} == {True, False}


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_a_rate_that_is_no_probability_is_refused(rate: float) -> None:
    with pytest.raises(UsageError, match="probability"):
        Exploration(rate=rate, seed="s")


def test_each_distinct_condition_is_evaluated_once() -> None:
    cards = [card(str(i), when="channel = push" if i % 2 else None) for i in range(100)]
    assert set(index_of(cards).conditions) == {Condition(), Condition.of("channel = push")}


@pytest.mark.parametrize(
    "key",
    ["l’adhésion à l’été", "电影会员 推送", "رسالة اشتراك السينما", "🎬 🍿 film", "e\u0301te\u0301 prolonge\u0301"],
)
def test_keys_in_any_script_are_found(key: str) -> None:
    found = ids([card("other", key="shoes"), card("it", key=key)], task=key, k=1)
    assert found == ["it"]


def test_composed_and_decomposed_keys_are_one() -> None:
    assert ids([card("it", key="été"), card("other", key="zoo")], task="e\u0301te\u0301", k=1) == ["it"]


def test_the_same_recall_in_every_process() -> None:
    program = (
        "from recall_cases import *; from afterwit.recall.retrieve import *\n"
        "from afterwit.generate.choose import Chooser; from afterwit.decisions.mining import mined\n"
        "from afterwit.recall.render import render; from afterwit.model import Task\n"
        "cards=[measured(str(i), 0.01*(i%7), prefer=f'word=w{i%11}') for i in range(60)]\n"
        "task=Task(text='x', candidates=('w1 w2 w9','w3 w4 w10','w5 w6'))\n"
        "found=recall(index_of(cards), EMBED(['x'])[0], context={}, now=NOW, candidates=task.candidates, shown=mined)\n"
        "chooser=Chooser(lambda t: dict.fromkeys(mined(t), 1.0))\n"
        "print([t for _,t in found], chooser(task,[c for c,_ in found]), render([c for c,_ in found]))"
    )
    outputs = set()
    for seed in ("0", "1", "77"):
        places = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": places}
        outputs.add(subprocess.check_output([sys.executable, "-c", program], env=environment, text=True))
    assert len(outputs) == 1
    assert "w" in outputs.pop()
