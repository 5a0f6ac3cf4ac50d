import threading
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterwit.credit.responsibility.removal import ReplayCache, ReplayRules
from afterwit.credit.responsibility.replay import by_candidate, harmful, helpful, responsibilities, responsibility
from afterwit.errors import InputError, UsageError
from afterwit.model import Card, Credit, Draft, Stance, Task
from replay_cases import D, Logic, card, decided, episode

A, B, C, E = (card(name) for name in "abce")
ABC = (A, B, C)


def weights(credits: Sequence[Credit], decision: str = D) -> dict[str, float]:
    return {credit.card_id: credit.weight for credit in credits if credit.decision == decision}


def only(credits: Sequence[Credit], card_id: str, decision: str = D) -> Credit:
    (found,) = [credit for credit in credits if credit.card_id == card_id and credit.decision == decision]
    return found


def test_a_card_whose_removal_changes_the_decision_gets_all_of_it():
    found = responsibility(episode(ABC, {D: "ab"}), ABC, Logic(hook__question=lambda p: "a" in p))
    assert weights(found) == {"a": 1.0, "b": 0.0, "c": 0.0}
    assert [only(found, i).kind for i in "abc"] == ["sole", "none", "none"]
    assert only(found, "b").reason == "removing it changes nothing"
    assert only(found, "c").reason == "recalled but not cited"


def test_two_that_are_both_needed_share_it():
    found = responsibility(episode(ABC, {D: "abc"}), ABC, Logic(hook__question=lambda p: {"a", "b"} <= p))
    assert weights(found) == {"a": 0.5, "b": 0.5, "c": 0.0}
    assert only(found, "a").reason == "removing it changes the decision, as does each of 1 others"


def test_redundant_cards_hide_each_other_and_are_found_together():
    found = responsibility(episode(ABC, {D: "abc"}), ABC, Logic(hook__question=lambda p: bool({"a", "b"} & p)))
    assert weights(found) == {"a": 0.5, "b": 0.5, "c": 0.0}
    assert {only(found, i).kind for i in "ab"} == {"joint"}
    assert only(found, "a").reason == "removing it changes the decision only together with b"
    assert only(found, "c").kind == "none"


def test_two_of_three_needed_share_it_over_three_pairs():
    found = responsibility(episode(ABC, {D: "abc"}), ABC, Logic(hook__question=lambda p: len(p) >= 2))
    # Pairs ab, ac, bc: each card is in two of three, with half of each: 2/3 · 1/2.
    assert weights(found) == pytest.approx({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3})


def test_minimal_sets_of_different_sizes_share_equally():
    # Shown while a or b is there, and so is one of c, e, f: {a, b} and {c, e, f} are the minimal sets.
    cards = (*ABC, E, card("f"))
    agent = Logic(hook__question=lambda p: bool(p & {"a", "b"}) and bool(p & {"c", "e", "f"}))
    found = weights(responsibility(episode(cards, {D: "abcef"}), cards, agent))
    assert found == pytest.approx({"a": 1 / 4, "b": 1 / 4, "c": 1 / 6, "e": 1 / 6, "f": 1 / 6})


def test_a_set_of_four_is_beyond_the_search_and_says_so():
    cards = (*ABC, E)
    found = responsibility(episode(cards, {D: "abce"}), cards, Logic(hook__question=lambda p: bool(p)))
    assert set(weights(found).values()) == {0.0}
    assert only(found, "a").reason == "removing it changes nothing, alone or in a minimal set of up to 3"


def test_a_card_cited_for_another_decision_is_not_responsible_for_this_one():
    both = Logic(hook__question=lambda p: {"a", "b"} <= p, tone__warm=lambda p: "b" in p)
    found = responsibility(episode(ABC, {D: "a", "tone=warm": "b"}), ABC, both)
    assert weights(found) == {"a": 1.0, "b": 0.0, "c": 0.0}
    assert weights(found, "tone=warm") == {"a": 0.0, "b": 1.0, "c": 0.0}
    assert only(found, "b").reason == "cited for another decision"


def test_without_citations_the_stance_speaks():
    named = card("a", stance=Stance(decision=D, prefer=True))
    against = card("b", stance=Stance(decision=D, prefer=False))
    cards = (named, against, C)
    found = responsibility(episode(cards, {}, decisions=[D]), cards, Logic(hook__question=lambda p: "a" in p))
    assert weights(found) == {"a": 1.0, "b": 0.0, "c": 0.0}
    assert only(found, "b").reason == "nothing is cited and its stance does not name it"


def test_an_avoiding_card_is_responsible_for_what_is_not_there():
    avoid = card("a", stance=Stance(decision=D, prefer=False))
    agent = Logic(**{"not:hook__question": lambda p: "a" in p})
    found = responsibility(episode((avoid, B), {}, decisions=[f"not:{D}"]), (avoid, B), agent)
    assert weights(found, f"not:{D}") == {"a": 1.0, "b": 0.0}


def test_a_withheld_card_was_not_given_and_gets_none():
    agent = Logic(hook__question=lambda p: "b" in p)
    found = responsibility(episode(ABC, {D: "b"}, withheld="a"), ABC, agent)
    assert only(found, "a").reason == "withheld by exploration"
    assert all("a" not in prompt for prompt in agent.prompts)


def test_cards_that_were_not_recalled_are_neither_credited_nor_replayed():
    agent = Logic(hook__question=lambda p: "a" in p)
    found = responsibility(episode((A, B), {D: "ab"}), ABC, agent)
    assert weights(found) == {"a": 1.0, "b": 0.0}
    assert all("c" not in prompt for prompt in agent.prompts)


def test_another_version_than_was_recalled_is_not_replayed():
    found = responsibility(episode((A, B), {D: "ab"}), (card("a", version=2), B), Logic(hook__question=bool))
    assert only(found, "a").reason == "handed in as another version than was recalled"
    assert weights(found) == {"a": 0.0, "b": 1.0}


def test_a_decision_that_the_whole_prompt_does_not_show_is_unstable():
    found = responsibility(episode(ABC, {D: "ab"}), ABC, Logic(hook__question=lambda p: False))
    assert [only(found, i).kind for i in "abc"] == ["unstable", "unstable", "none"]
    assert set(weights(found).values()) == {0.0}


def test_a_generator_that_refuses_the_prompt_leaves_it_unstable_and_a_bug_is_raised():
    def refuses(task: Task, cards: Sequence[Card], *, seed: int = 0) -> Draft:
        if len(cards) < 3:
            raise InputError("too few notes")
        return Draft(output="x", decisions=(decided(D),))

    found = responsibility(episode(ABC, {D: "ab"}), ABC, refuses)
    assert only(found, "a").kind == "unstable"
    assert only(found, "a").reason == "a replay failed: too few notes"

    def broken(task: Task, cards: Sequence[Card], *, seed: int = 0) -> Draft:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        responsibility(episode(ABC, {D: "ab"}), ABC, broken)


def test_utility_tells_help_from_harm():
    class Picks:
        """Chooses the first headline on the advice of a, the second otherwise; b is needed for nothing."""

        def __call__(self, task: Task, cards: Sequence[Card], *, seed: int = 0) -> Draft:
            advised = any(c.id == "a" for c in cards)
            return Draft(output="one" if advised else "two", decisions=(decided(D),) if advised else ())

    log = episode((A, B), {D: "ab"}, candidates=("one", "two"))
    good = responsibility(log, (A, B), Picks(), scorer=by_candidate({"one": 0.03, "two": 0.01}))
    assert only(good, "a").utility_change == pytest.approx(0.02)
    assert helpful(only(good, "a"))
    assert not harmful(only(good, "a"))
    bad = responsibility(log, (A, B), Picks(), scorer=by_candidate({"one": 0.01, "two": 0.03}))
    assert harmful(only(bad, "a"))
    assert not helpful(only(bad, "a"))
    unknown = responsibility(log, (A, B), Picks(), scorer=by_candidate({"one": 0.01}))
    for credit in (only(unknown, "a"), only(bad, "b")):
        assert credit.utility_change is None
        assert not harmful(credit)
        assert not helpful(credit)


def test_utility_of_redundant_cards_is_that_of_losing_them_together():
    agent = Logic(hook__question=lambda p: bool(p & {"a", "b"}))
    found = responsibility(episode(ABC, {D: "abc"}), ABC, agent, scorer=lambda draft: float(len(draft.decisions)))
    assert only(found, "a").utility_change == 1.0


def test_what_was_replayed_before_costs_nothing():
    cache, agent = ReplayCache(), Logic(hook__question=lambda p: len(p) >= 2)
    log = episode(ABC, {D: "abc"})
    first = responsibility(log, ABC, agent, cache=cache)
    calls = len(agent.prompts)
    assert calls == 1 + 3 + 3
    assert responsibility(log, ABC, agent, cache=cache, rules=ReplayRules(per_episode=0)) == first
    assert len(agent.prompts) == calls


def test_the_cache_tells_generators_and_card_numbers_apart():
    cache, log = ReplayCache(), episode(ABC, {D: "a"})
    assert weights(responsibility(log, ABC, Logic(hook__question=lambda p: "a" in p), cache=cache))["a"] == 1
    assert weights(responsibility(log, ABC, Logic(hook__question=lambda p: True), cache=cache))["a"] == 0
    agent = Logic(hook__question=lambda p: True)
    responsibility(log, ABC, agent, cache=cache)
    calls = len(agent.prompts)
    responsibility(log, (card("a", effect=0.5), B, C), agent, cache=cache)
    # The whole prompt is another one now; without a it is the same as before.
    assert len(agent.prompts) == calls + 1


def test_generators_of_one_identity_share_the_cache():
    cache, log = ReplayCache(), episode(ABC, {D: "a"})
    one, two = Logic(hook__question=lambda p: "a" in p), Logic(hook__question=lambda p: "a" in p)
    one.identity = two.identity = "logic-1"  # type: ignore[attr-defined]
    assert responsibility(log, ABC, one, cache=cache) == responsibility(log, ABC, two, cache=cache)
    assert not two.prompts


@pytest.mark.parametrize(("budget", "credited"), [(0, 0), (3, 0), (4, 0), (6, 0), (7, 3), (50, 3)])
def test_a_decision_is_credited_whole_or_not_at_all(budget: int, credited: int):
    # The whole prompt, three singles and three pairs: seven replays.
    agent = Logic(hook__question=lambda p: len(p) >= 2)
    found = responsibility(episode(ABC, {D: "abc"}), ABC, agent, rules=ReplayRules(per_episode=budget))
    assert len(agent.prompts) <= budget
    assert sum(weight > 0 for weight in weights(found).values()) == credited
    if not credited:
        assert {credit.reason for credit in found} == {"budget spent"}


def test_many_episodes_share_one_budget():
    agent = Logic(hook__question=lambda p: "a" in p)
    logs = [(episode((A, B), {D: "a"}, id=f"episode-{n}"), (A, B)) for n in range(3)]
    # The episodes ask the same of the generator, so that two calls serve all of them.
    found = list(responsibilities(logs, agent, rules=ReplayRules(per_call=2)))
    assert [credit.weight for credit in found if credit.card_id == "a"] == [1.0, 1.0, 1.0]
    assert len(agent.prompts) == 2
    other = Logic(hook__question=lambda p: "c" in p)
    logs.append((episode((C, E), {D: "c"}, id="episode-3"), (C, E)))
    found = list(responsibilities(reversed(logs), other, rules=ReplayRules(per_call=2)))
    assert len(other.prompts) == 2
    assert [credit.weight for credit in found if credit.card_id == "c"] == [1.0]
    assert [credit.reason for credit in found if credit.card_id == "a"] == ["budget spent"] * 3


def test_replays_run_at_the_same_time():
    met = threading.Barrier(3, timeout=10)

    def waits(task: Task, cards: Sequence[Card], *, seed: int = 0) -> Draft:
        if len(cards) == 2:
            met.wait()
        return Draft(output="x", decisions=(decided(D),) if len(cards) == 3 else ())

    found = responsibility(episode(ABC, {D: "abc"}), ABC, waits, rules=ReplayRules(workers=3))
    assert weights(found) == pytest.approx({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3})


def test_rules_without_seeds_or_workers_are_refused():
    for wrong in ({"seeds": 0}, {"workers": 0}):
        with pytest.raises(UsageError, match="at least one"):
            ReplayRules(**wrong)


CARDS = tuple(card(name) for name in "abcde")
SUBSETS = [frozenset(s) for size in range(6) for s in combinations("abcde", size)]


@st.composite
def worlds(draw):
    """Any two Boolean functions of the cards present, monotone or not, and any citations."""
    tables = {key: draw(st.frozensets(st.sampled_from(SUBSETS))) for key in (D, "tone=warm")}
    if draw(st.booleans()):  # Arbitrary tables seldom hold the whole prompt or redundancy.
        tables[D] |= {s for s in SUBSETS if len(s) >= draw(st.integers(1, 5))}
    cited = {key: "".join(sorted(draw(st.sets(st.sampled_from("abcde"))))) for key in tables}
    agent = Logic(hook__question=lambda p: p in tables[D], tone__warm=lambda p: p in tables["tone=warm"])
    return tables, cited, agent


def by_brute_force(table: frozenset[frozenset[str]], cited: str) -> dict[str, float]:
    whole = frozenset("abcde")
    expected = dict.fromkeys("abcde", 0.0)
    if whole not in table:
        return expected
    changing = [s for s in SUBSETS if 0 < len(s) <= 3 and s <= set(cited) and whole - s not in table]
    minimal = [s for s in changing if not any(t < s for t in changing)]
    if any(len(s) == 1 for s in minimal):
        minimal = [s for s in minimal if len(s) == 1]
    for found in minimal:
        for name in found:
            expected[name] += 1 / len(minimal) / len(found)
    return expected


@given(worlds(), st.permutations(CARDS))
@settings(max_examples=150, deadline=None)
def test_the_laws_of_responsibility(world, order):
    tables, cited, agent = world
    log = episode(CARDS, cited)
    found = responsibility(log, CARDS, agent, rules=ReplayRules(workers=1))
    for key, table in tables.items():
        landed = weights(found, key)
        assert landed == pytest.approx(by_brute_force(table, cited[key]))
        assert sum(landed.values()) <= 1 + 1e-12
        assert all(0 <= weight <= 1 for weight in landed.values())
        assert all(landed[name] == 0 for name in "abcde" if name not in cited[key])  # Law 1.
    assert all(credit.reason for credit in found)
    assert responsibility(log, order, agent, rules=ReplayRules(workers=1)) == found
    assert len({credit.id for credit in found}) == len(found) == 2 * len(CARDS)


@given(worlds(), st.integers(0, 60))
@settings(max_examples=40, deadline=None)
def test_scheduling_changes_nothing_and_the_budget_holds(world, budget):
    _, cited, agent = world
    log = episode(CARDS, cited)
    serial = responsibility(log, CARDS, agent, rules=ReplayRules(workers=1, per_episode=budget))
    assert len(agent.prompts) <= budget
    assert responsibility(log, CARDS, agent, rules=ReplayRules(workers=8, per_episode=budget)) == serial
    free = responsibility(log, CARDS, agent, rules=ReplayRules(workers=1))
    for key in cited:
        # Less budget means fewer decisions credited, never other shares.
        assert weights(serial, key) in (weights(free, key), dict.fromkeys("abcde", 0.0))
