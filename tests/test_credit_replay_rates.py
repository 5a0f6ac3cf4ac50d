from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep

from afterwit.credit.responsibility.difference import newcombe
from afterwit.credit.responsibility.removal import ReplayRules
from afterwit.credit.responsibility.replay import responsibility
from afterwit.model import Card, Draft, Task
from replay_cases import D, card, decided, episode

ABC = tuple(card(name) for name in "abc")


@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(0, n))))
def test_the_interval_agrees_with_statsmodels(counts: tuple[int, int, int]):
    n, x, y = counts
    expected = confint_proportions_2indep(x, n, y, n, method="newcomb", compare="diff")
    assert newcombe(x, y, n) == pytest.approx(expected, abs=1e-9)


class Moody:
    """Shows the decision under the first ``shows(present)`` seeds of S: a rate without chance in the test."""

    def __init__(self, shows) -> None:
        self.shows = shows

    def __call__(self, task: Task, cards: Sequence[Card], *, seed: int = 0) -> Draft:
        shown = seed < self.shows(frozenset(c.id for c in cards))
        return Draft(output="x", decisions=(decided(D),) if shown else ())


def credits(shows, *, seeds: int = 20, cited: str = "abc"):
    found = responsibility(episode(ABC, {D: cited}), ABC, Moody(shows), rules=ReplayRules(seeds=seeds))
    return {credit.card_id: credit for credit in found}


def test_the_share_is_the_part_of_the_rate_that_hangs_on_the_card():
    # 20 of 20 with a, 5 of 20 without: three quarters of the showings are a's.
    found = credits(lambda p: 20 if "a" in p else 5)
    assert {i: credit.weight for i, credit in found.items()} == {"a": 0.75, "b": 0.0, "c": 0.0}
    assert found["a"].kind == "sole"


def test_a_difference_within_chance_is_not_responsible():
    # 12 against 8 of 20: the interval of +0.2 covers 0.
    found = credits(lambda p: 12 if "a" in p else 8, cited="a")
    assert newcombe(12, 8, 20)[0] < 0
    assert found["a"].weight == 0
    assert found["a"].kind == "none"


def test_trying_more_cards_asks_for_more_evidence():
    # 15 against 8 of 20 passes when one card is tried, and not when it is one of three, which
    # make seven sets of up to three.
    shows = lambda p: 15 if "a" in p else 8  # noqa: E731
    assert newcombe(15, 8, 20)[0] > 0 > newcombe(15, 8, 20, level=1 - 0.05 / 7)[0]
    assert credits(shows, cited="a")["a"].weight == pytest.approx(7 / 15)
    assert {credit.weight for credit in credits(shows, cited="abc").values()} == {0.0}


def test_a_card_that_works_against_the_decision_is_not_responsible_for_it():
    assert credits(lambda p: 5 if "a" in p else 20, cited="a")["a"].weight == 0


def test_redundant_cards_share_by_rate():
    found = credits(lambda p: 20 if p & {"a", "b"} else 4)
    assert found["a"].weight == found["b"].weight == pytest.approx(0.4)
    assert found["a"].kind == "joint"
    assert found["c"].weight == 0


def test_never_shown_is_unstable():
    assert credits(lambda p: 0)["a"].kind == "unstable"


def test_utility_is_a_mean_over_seeds():
    log = episode(ABC, {D: "a"})
    agent = Moody(lambda p: 20 if "a" in p else 5)
    found = responsibility(
        log, ABC, agent, rules=ReplayRules(seeds=20), scorer=lambda draft: float(len(draft.decisions))
    )
    assert found[0].utility_change == pytest.approx(0.75)
