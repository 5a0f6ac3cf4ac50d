"""Responsibility credit: did the card act? (design section 7; our reconstruction of TIDE's counterfactual replay)

A card m of an episode with decision d is responsible iff it was recalled and cited for d (or, where nothing is
cited for d, its stance names d) and replaying the frozen generator without m changes d. k sole responsibles
share 1 equally. Where no single removal changes d, redundant cards hide each other: the minimal sets of up to three
whose removal changes d share it, equally among sets and inside each. Weights sum to at most 1 per episode and decision.
"""

from collections.abc import Callable, Iterable, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

from afterwit.errors import InputError
from afterwit.model import Card, Credit, Draft, Episode, Task, content_hash
from afterwit.ports import Generator

Scorer = Callable[[Draft], float]
Cache = MutableMapping[str, Draft]


@dataclass(frozen=True, kw_only=True)
class ReplayRules:
    """set_size: largest removal set tried. budget: replays an episode may cost. workers: replays at a time."""

    set_size: int = 3
    budget: int = 400
    workers: int = 4


@dataclass(kw_only=True)
class _Replays:
    """Drafts of the frozen generator without some cards, each asked for once."""

    task: Task
    cards: dict[str, Card]
    generator: Generator
    cache: Cache
    rules: ReplayRules
    spent: int = 0
    drafts: dict[frozenset[str], Draft] = field(default_factory=dict)

    def without(self, sets: Iterable[frozenset[str]]) -> dict[frozenset[str], Draft]:
        """The drafts that the budget allows, in the order asked."""
        wanted = [removed for removed in dict.fromkeys(sets) if removed not in self.drafts]
        keys = {removed: self._key(removed) for removed in wanted}
        missing = [removed for removed in wanted if keys[removed] not in self.cache]
        missing = missing[: max(0, self.rules.budget - self.spent)]
        self.spent += len(missing)
        with ThreadPoolExecutor(self.rules.workers) as pool:
            for removed, draft in zip(missing, pool.map(self._run, missing), strict=True):
                self.cache[keys[removed]] = draft
        self.drafts.update({removed: self.cache[key] for removed, key in keys.items() if key in self.cache})
        return self.drafts

    def _run(self, removed: frozenset[str]) -> Draft:
        return self.generator(self.task, [card for i, card in self.cards.items() if i not in removed])

    def _key(self, removed: frozenset[str]) -> str:
        kept = [f"{card.id}:{card.version}:{card.content_hash}" for i, card in self.cards.items() if i not in removed]
        named = f"{type(self.generator).__module__}.{type(self.generator).__qualname__}"
        context = sorted((name, str(value)) for name, value in self.task.context.items())
        return content_hash(named, self.task.text, str(context), *self.task.candidates, "|", *kept)


def responsibility(
    episode: Episode,
    cards: Sequence[Card],
    generator: Generator,
    *,
    rules: ReplayRules = ReplayRules(),
    cache: Cache | None = None,
    scorer: Scorer | None = None,
) -> tuple[Credit, ...]:
    """One credit per decision of the episode and card that it was given, weight 0 with a reason included.

    cards: the versions that the episode recalled. cache: kept by the caller across episodes; replays of the same
    prompt cost nothing. scorer: utility of a draft, for ``utility_change`` = U(with) − U(without). A decision that
    the full prompt does not reproduce is ``unstable``: nobody gets credit for it.
    """
    given = {r.card_id for r in episode.recalled if not r.withheld}
    known = {card.id: card for card in sorted(cards, key=lambda card: card.id) if card.id in given}
    task = Task(text=episode.task, context=episode.context, candidates=episode.candidates)
    replays = _Replays(task=task, cards=known, generator=generator, cache={} if cache is None else cache, rules=rules)
    nothing: frozenset[str] = frozenset()
    try:
        full = replays.without([nothing]).get(nothing)
    except InputError as error:
        return tuple(
            _credit(episode, card, key, 0.0, "none", f"cannot be replayed: {error}")
            for key in _decided(episode)
            for card in known.values()
        )
    found: list[Credit] = []
    for key in _decided(episode):
        if full is None or key not in _shown(full):
            reason = "budget spent" if full is None else "the full prompt does not reproduce the decision"
            kind: Literal["none", "unstable"] = "none" if full is None else "unstable"
            found += [_credit(episode, card, key, 0.0, kind, reason) for card in known.values()]
            continue
        found += _credited(episode, key, full, replays, scorer)
    return tuple(found)


def _credited(episode: Episode, key: str, full: Draft, replays: _Replays, scorer: Scorer | None) -> list[Credit]:
    cards = replays.cards
    eligible = _eligible(episode, key, cards)
    singles = replays.without(frozenset([i]) for i in eligible)
    sole = [i for i in eligible if _changes(singles, frozenset([i]), key)]
    weights: dict[str, float] = {i: 1 / len(sole) for i in sole}
    kind: Literal["sole", "joint"] = "sole"
    if not sole:
        kind = "joint"
        for size in range(2, min(replays.rules.set_size, len(eligible)) + 1):
            sets = [frozenset(group) for group in combinations(eligible, size)]
            drafts = replays.without(sets)
            minimal = [group for group in sets if _changes(drafts, group, key)]
            if minimal:
                for group in minimal:
                    for i in group:
                        weights[i] = weights.get(i, 0.0) + 1 / len(minimal) / len(group)
                break
    found = []
    for i, card in cards.items():
        if i in weights:
            reason = (
                "removing it changes the decision" if kind == "sole" else "removing it with others changes the decision"
            )
            without = replays.drafts.get(frozenset([i]))
            change = scorer(full) - scorer(without) if scorer and without and kind == "sole" else None
            found.append(_credit(episode, card, key, weights[i], kind, reason, change))
        else:
            missing = i in eligible and frozenset([i]) not in replays.drafts
            reason = "budget spent" if missing else _why_not(episode, key, card, eligible)
            found.append(_credit(episode, card, key, 0.0, "none", reason))
    return found


def _eligible(episode: Episode, key: str, cards: dict[str, Card]) -> list[str]:
    cited = {card for citation in episode.citations if citation.decision == key for card in citation.cards}
    if cited:
        return [i for i in cards if i in cited]
    return [i for i, card in cards.items() if card.stance is not None and card.stance.followed == key]


def _changes(drafts: dict[frozenset[str], Draft], removed: frozenset[str], key: str) -> bool:
    return removed in drafts and key not in _shown(drafts[removed])


def _decided(episode: Episode) -> list[str]:
    return list(dict.fromkeys(decision.key for decision in episode.decisions))


def _shown(draft: Draft) -> set[str]:
    return {decision.key for decision in draft.decisions}


def _why_not(episode: Episode, key: str, card: Card, eligible: Sequence[str]) -> str:
    if card.id in eligible:
        return "removing it changes nothing"
    if any(card.id in citation.cards for citation in episode.citations):
        return "cited for another decision"
    return "recalled, not cited"


def _credit(
    episode: Episode,
    card: Card,
    key: str,
    weight: float,
    kind: Literal["sole", "joint", "none", "unstable"],
    reason: str,
    change: float | None = None,
) -> Credit:
    return Credit(
        id=content_hash(episode.id, card.id, key)[:32],
        episode_id=episode.id,
        card_id=card.id,
        decision=key,
        weight=weight,
        kind=kind,
        reason=reason,
        utility_change=change,
    )
