"""Responsibility with the built-in generator that chooses among candidates."""

from dataclasses import replace

from afterwit.credit.responsibility.replay import by_candidate, harmful, helpful, responsibility
from afterwit.generate.choose import Chooser
from afterwit.model import Card, Episode, Posterior, Stance, Task
from replay_cases import card, episode

ASKS, COUNTS, PLAIN = "Why do cats purr?", "Seven cats that purr", "Cats purr"
CANDIDATES = (ASKS, COUNTS, PLAIN)
SHOWN = {
    ASKS: frozenset({"hook=question", "topic=cats"}),
    COUNTS: frozenset({"hook=number", "topic=cats"}),
    PLAIN: frozenset({"topic=cats"}),
}


def shown(text: str) -> frozenset[str]:
    return SHOWN[text]


def advice(name: str, decision: str, effect: float, *, prefer: bool = True) -> Card:
    made = card(name, stance=Stance(decision=decision, prefer=prefer), effect=effect)
    return replace(made, fitness={"click": Posterior(mean=effect, sd=0.01, strata=30)})


def served(*cards: Card) -> tuple[Episode, Chooser]:
    chooser = Chooser(lambda text: dict.fromkeys(shown(text), 1.0))
    log = episode(cards, {}, candidates=CANDIDATES)
    draft = chooser(Task(text=log.task, context=log.context, candidates=CANDIDATES), cards)
    return replace(log, output=draft.output, decisions=draft.decisions, citations=draft.citations), chooser


def credits(*cards: Card, **options):
    log, chooser = served(*cards)
    found = responsibility(log, cards, chooser, shown=shown, **options)
    return log, {(credit.card_id, credit.decision): credit for credit in found}


def test_the_card_that_made_the_choice_is_responsible():
    log, found = credits(advice("a", "hook=question", 0.2), advice("b", "hook=number", 0.1))
    assert log.output == ASKS
    assert found["a", "hook=question"].weight == 1
    assert found["b", "hook=question"].weight == 0


def test_two_cards_for_one_decision_are_jointly_responsible():
    _, found = credits(
        advice("a", "hook=question", 0.2), advice("c", "hook=question", 0.3), advice("b", "hook=number", 0.1)
    )
    assert [found[i, "hook=question"].weight for i in "ac"] == [0.5, 0.5]
    assert found["a", "hook=question"].kind == "joint"


def test_a_card_whose_decision_stays_visible_without_it_changed_nothing():
    # Every candidate shows the topic: the Chooser lists it only while a card names it, but the choice never moves.
    log, found = credits(advice("a", "topic=cats", 0.3), advice("b", "hook=question", 0.2))
    assert "topic=cats" in {d.key for d in log.decisions}
    assert found["a", "topic=cats"].weight == 0
    assert found["a", "topic=cats"].kind == "none"
    assert found["b", "hook=question"].weight == 1


def test_an_avoiding_card_is_responsible_where_it_turned_the_choice_away():
    log, found = credits(advice("a", "hook=question", 0.3, prefer=False), advice("b", "hook=number", 0.05))
    # Without the avoiding card the number still wins: nothing is changed by it.
    assert log.output == COUNTS
    assert found["a", "not:hook=question"].weight == 0
    log, found = credits(advice("a", "hook=question", -0.3, prefer=False), advice("b", "hook=question", 0.2))
    assert log.output != ASKS
    assert found["a", "not:hook=question"].weight == 1


def test_the_logged_rates_of_the_candidates_tell_help_from_harm():
    cards = (advice("a", "hook=question", 0.2), advice("b", "hook=number", 0.1))
    rates = {ASKS: 0.03, COUNTS: 0.01}
    _, found = credits(*cards, scorer=by_candidate(rates))
    assert helpful(found["a", "hook=question"])
    _, found = credits(*cards, scorer=by_candidate({ASKS: 0.01, COUNTS: 0.03}))
    assert harmful(found["a", "hook=question"])


def test_an_episode_without_candidates_cannot_be_replayed_by_choice():
    cards = (advice("a", "hook=question", 0.2),)
    log = episode(cards, {"hook=question": "a"})
    (found,) = responsibility(log, cards, Chooser(lambda text: dict.fromkeys(shown(text), 1.0)), shown=shown)
    assert found.kind == "unstable"
    assert "brought none" in found.reason
