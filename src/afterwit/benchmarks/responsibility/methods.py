"""Ways to give credit, each a function from the set to weights by (episode, decision, card)."""

from collections.abc import Callable, Iterator

from afterwit.benchmarks.responsibility.construct import ConstructedSet, Landing
from afterwit.credit.responsibility.removal import ReplayRules
from afterwit.credit.responsibility.replay import responsibilities
from afterwit.model import Card, Credit, Draft, Episode, Task

Weights = dict[Landing, float]
Method = Callable[[ConstructedSet], Weights]


def replay(cases: ConstructedSet) -> Weights:
    """Ours: recalled, cited, and removed alone or in a minimal set."""
    return {(c.episode_id, c.decision, c.card_id): c.weight for c in _replayed(cases) if c.weight > 0}


def replay_sole_only(cases: ConstructedSet) -> Weights:
    """Ours without joint credit, as an ablation: cited leave-one-out."""
    return {(c.episode_id, c.decision, c.card_id): c.weight for c in _replayed(cases) if c.kind == "sole"}


def all_cited(cases: ConstructedSet) -> Weights:
    """Every card cited for the decision."""
    return {
        (episode.id, citation.decision, card): 1.0
        for episode, _ in cases.episodes
        for citation in episode.citations
        for card in citation.cards
    }


def all_recalled(cases: ConstructedSet) -> Weights:
    """Every card that was given, for every decision."""
    return {
        (episode.id, d.key, card.id): 1.0
        for episode, given in _given(cases)
        for d in episode.decisions
        for card in given
    }


def leave_one_out(cases: ConstructedSet) -> Weights:
    """Every given card whose removal alone makes the decision go, cited or not."""
    return {
        (episode.id, d.key, card.id): 1.0
        for episode, card, whole, without in _removals(cases)
        for d in episode.decisions
        if d in whole.decisions and d not in without.decisions
    }


def leave_one_out_output(cases: ConstructedSet) -> Weights:
    """Every given card whose removal alone changes anything in the output, for every decision."""
    return {
        (episode.id, d.key, card.id): 1.0
        for episode, card, whole, without in _removals(cases)
        for d in episode.decisions
        if whole.output != without.output
    }


def stance_match(cases: ConstructedSet) -> Weights:
    """Every given card whose stance names the decision."""
    return {
        (episode.id, d.key, card.id): 1.0
        for episode, given in _given(cases)
        for d in episode.decisions
        for card in given
        if card.stance is not None and card.stance.followed == d.key
    }


METHODS: dict[str, Method] = {
    "replay": replay,
    "replay:sole_only": replay_sole_only,
    "all_cited": all_cited,
    "all_recalled": all_recalled,
    "leave_one_out": leave_one_out,
    "leave_one_out:output": leave_one_out_output,
    "stance_match": stance_match,
}


def _replayed(cases: ConstructedSet) -> Iterator[Credit]:
    return responsibilities(cases.episodes, cases.agent, rules=ReplayRules(workers=1))


def _given(cases: ConstructedSet) -> Iterator[tuple[Episode, list[Card]]]:
    for episode, cards in cases.episodes:
        withheld = {trace.card_id for trace in episode.recalled if trace.withheld}
        yield episode, [card for card in cards if card.id not in withheld]


def _removals(cases: ConstructedSet) -> Iterator[tuple[Episode, Card, Draft, Draft]]:
    for episode, given in _given(cases):
        task = Task(text=episode.task)
        whole = cases.agent(task, given)
        for card in given:
            yield episode, card, whole, cases.agent(task, [other for other in given if other is not card])
