import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterwit.credit.responsibility.replay import responsibility
from afterwit.credit.responsibility.value import credited, rewarded, united
from afterwit.errors import UsageError
from replay_cases import D, Logic, card, episode

uses = st.lists(st.tuples(st.floats(-1, 1), st.floats(0.01, 1)), max_size=8)


def after(history):
    found = card("a")
    for reward, confidence in history:
        found = rewarded(found, reward=reward, confidence=confidence)
    return found


def test_two_uses_worked_by_hand():
    once = rewarded(card("a"), reward=1.0, confidence=0.5)
    assert (once.value, once.weight, once.uses) == (1.0, 0.5, 1)
    twice = rewarded(once, reward=-1.0, confidence=1.0)
    # W = 1.5; v = 1 + 1·(−1 − 1)/1.5 = −1/3.
    assert twice.value == pytest.approx(-1 / 3)
    assert (twice.weight, twice.uses, twice.version) == (1.5, 2, 3)


@given(uses)
def test_the_value_is_the_weighted_mean_of_the_rewards(history):
    found = after(history)
    weight = sum(c for _, c in history)
    assert found.weight == pytest.approx(weight)
    assert found.uses == len(history)
    assert found.value == pytest.approx(sum(r * c for r, c in history) / weight if weight else 0.0, abs=1e-9)


@given(uses, uses)
def test_a_merge_is_as_if_one_card_had_lived_through_both(first, second):
    merged, whole = united(after(first), after(second)), after(first + second)
    assert (merged.value, merged.weight) == pytest.approx((whole.value, whole.weight), abs=1e-9)
    assert merged.uses == whole.uses


@pytest.mark.parametrize(("reward", "confidence"), [(1.1, 0.5), (0.5, 1.1), (0.5, -0.1), (float("nan"), 0.5)])
def test_rewards_and_confidences_outside_their_ranges_are_refused(reward: float, confidence: float):
    with pytest.raises(UsageError):
        rewarded(card("a"), reward=reward, confidence=confidence)


@given(st.floats(-1, 1))
def test_no_credit_without_use(reward: float):
    cards = {name: card(name) for name in "ab"}
    log = episode(tuple(cards.values()), {D: "a"})
    found = responsibility(log, tuple(cards.values()), Logic(hook__question=lambda p: "a" in p))
    moved = {credit.card_id: credited(cards[credit.card_id], credit, reward=reward) for credit in found}
    assert moved["b"] is cards["b"]
    assert (moved["a"].value, moved["a"].weight, moved["a"].uses) == (reward, 1.0, 1)


def test_credit_lands_on_its_own_card():
    cards = (card("a"), card("b"))
    found = responsibility(episode(cards, {D: "a"}), cards, Logic(hook__question=lambda p: "a" in p))
    with pytest.raises(UsageError, match="belongs to card a"):
        credited(cards[1], found[0], reward=1.0)
