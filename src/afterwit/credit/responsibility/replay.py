"""Responsibility credit: which recalled cards an episode's decisions hang on (design section 7; TIDE).

The paper names the question and gives no formula; the weights, the sets and the rates below are our reconstruction.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

from afterwit.credit.responsibility.difference import newcombe
from afterwit.credit.responsibility.removal import WHOLE, Removal, ReplayCache, ReplayRules, Replays, Scorer, Shown
from afterwit.model import Card, Credit, Draft, Episode, content_hash
from afterwit.ports import Generator

LARGEST_SET = 3


def responsibility(
    episode: Episode,
    cards: Sequence[Card],
    generator: Generator,
    *,
    rules: ReplayRules = ReplayRules(),
    cache: ReplayCache | None = None,
    scorer: Scorer | None = None,
    shown: Shown | None = None,
) -> tuple[Credit, ...]:
    """One credit per decision and recalled card, by decision, then in the order of recall.

    cards: those that the episode recalled, in the very versions; their order does not matter. A card is responsible
    for d iff it was cited for d (without citations: its stance names d) and replaying without it changes d. k such
    cards get 1/k each. Where no single removal changes d, 1 is shared equally over the minimal sets of two or three
    cited cards whose removal does, and equally inside each set (``joint``). All others get 0 with the reason, also
    where the budget does not reach. A decision is credited whole or not at all, so that no share is a guess.

    With S > 1 seeds p and q are the rates of showing d with and without the set. It changes d iff the interval of
    p − q lies above 0, at 95 % over all sets of up to three cited cards (Bonferroni), and its share is multiplied by
    (p − q)/p, the part of d's showings that hang on it; for a deterministic generator that is 1.

    shown: what a text visibly shows, for generators such as the Chooser that list a decision only while some card
    names it: without it, removing the card that names d would look like a change although the choice stays.
    A recalled card that was not handed in is missing from the replayed prompt; reproducing d decides whether that
    matters. A generator that refuses the prompt (an AfterwitError) makes the decision ``unstable``.
    """
    budget = min(rules.per_episode, rules.per_call)
    return _credits(episode, cards, generator, rules, cache or ReplayCache(), scorer, shown, budget)[0]


def responsibilities(
    episodes: Iterable[tuple[Episode, Sequence[Card]]],
    generator: Generator,
    *,
    rules: ReplayRules = ReplayRules(),
    cache: ReplayCache | None = None,
    scorer_of: Callable[[Episode], Scorer | None] | None = None,
    shown: Shown | None = None,
) -> Iterator[Credit]:
    """The same for many episodes, in order, under one budget (``per_call``) and one cache.

    scorer_of: the scorer of an episode, where its outcome can tell the utility of other outputs.
    """
    cache = cache or ReplayCache()
    left = rules.per_call
    for episode, cards in episodes:
        budget = min(rules.per_episode, left)
        scorer = scorer_of(episode) if scorer_of else None
        found, spent = _credits(episode, cards, generator, rules, cache, scorer, shown, budget)
        left -= spent
        yield from found


def by_candidate(outcomes: Mapping[str, float]) -> Scorer:
    """Utility from what the world said of each candidate, such as its click rate in a randomised test."""

    def score(draft: Draft) -> float | None:
        return outcomes.get(draft.output)

    return score


def harmful(credit: Credit) -> bool:
    """Removing the card improved utility: what a revision or eviction for harm needs."""
    return credit.weight > 0 and credit.utility_change is not None and credit.utility_change < 0


def helpful(credit: Credit) -> bool:
    """Removing the card lowered utility: what a reinforcement for use needs."""
    return credit.weight > 0 and credit.utility_change is not None and credit.utility_change > 0


@dataclass(kw_only=True)
class _Search:
    """What is known so far of one decision. cited: eligible cards in the order of recall. gains: minimal removal
    set → the part of the decision that hangs on it. stopped: the verdict and reason that ended the search."""

    decision: str
    cited: tuple[str, ...]
    gains: dict[Removal, float] = field(default_factory=dict)
    stopped: tuple[Literal["none", "unstable"], str] | None = None

    def sets(self, size: int) -> list[Removal]:
        """Those still to be tried: of this size, without a smaller set that already does it."""
        if self.stopped or (size > 1 and any(len(found) == 1 for found in self.gains)):
            return []
        made = (frozenset(chosen) for chosen in combinations(self.cited, size))
        return [removal for removal in made if not any(found <= removal for found in self.gains)]

    def stop(self, kind: Literal["none", "unstable"], reason: str) -> None:
        """Ends the search without credit: what was found so far is no basis for shares."""
        self.stopped = kind, reason
        self.gains.clear()

    def judge(self, removals: Sequence[Removal], replays: Replays, seeds: int) -> None:
        if self.stopped or not removals:
            return
        whole = replays.showing(WHOLE, self.decision)
        # One level for every size: a laxer one for the few large sets would let them pass on one member's effect.
        possible = sum(math.comb(len(self.cited), size) for size in range(1, LARGEST_SET + 1))
        for removal in removals:
            failed = replays.failure(removal)
            if failed is not None:
                self.stop("unstable", f"a replay failed: {failed}")
                return
            without = replays.showing(removal, self.decision)
            low = newcombe(whole, without, seeds, level=1 - 0.05 / possible)[0]
            if (without == 0) if seeds == 1 else (low > 0):
                self.gains[removal] = (whole - without) / whole


def _credits(
    episode: Episode,
    cards: Sequence[Card],
    generator: Generator,
    rules: ReplayRules,
    cache: ReplayCache,
    scorer: Scorer | None,
    shown: Shown | None,
    budget: int,
) -> tuple[tuple[Credit, ...], int]:
    """The credits, and the generator calls that they took."""
    versions = {(card.id, card.version): card for card in cards}
    given = dict.fromkeys((trace.card_id, trace.version) for trace in episode.recalled if not trace.withheld)
    prompt = [versions[place] for place in given if place in versions]
    replays = Replays(episode, prompt, generator, rules=rules, cache=cache, budget=budget, shown=shown)
    decisions = sorted({d.key for d in episode.decisions} | {c.decision for c in episode.citations})
    searches = [_Search(decision=key, cited=_eligible(episode, prompt, key)) for key in decisions]
    _begin([search for search in searches if search.cited], replays)
    for size in range(1, LARGEST_SET + 1):
        tried = {search.decision: search.sets(size) for search in searches}
        for search in searches:
            if not replays.reserve(tried[search.decision]):
                search.stop("none", "budget spent")
        replays.run()
        for search in searches:
            search.judge(tried[search.decision], replays, rules.seeds)
    handed = {card.id for card in cards}
    ids = list(dict.fromkeys(trace.card_id for trace in episode.recalled if trace.card_id in handed))
    found = (_credit(episode, prompt, search, card_id, replays, scorer) for search in searches for card_id in ids)
    return tuple(found), replays.spent


def _eligible(episode: Episode, prompt: Sequence[Card], decision: str) -> tuple[str, ...]:
    cited = _citing(episode).get(decision)
    if cited:
        named = (card.id for card in prompt if card.id in cited)
    else:
        named = (card.id for card in prompt if card.stance is not None and card.stance.followed == decision)
    return tuple(dict.fromkeys(named))


def _citing(episode: Episode) -> dict[str, set[str]]:
    cited: dict[str, set[str]] = {}
    for citation in episode.citations:
        cited.setdefault(citation.decision, set()).update(citation.cards)
    return cited


def _begin(searches: Sequence[_Search], replays: Replays) -> None:
    """The whole prompt must show a decision again before anything is removed."""
    if not searches:
        return
    affordable = replays.reserve([WHOLE])
    replays.run()
    for search in searches:
        if not affordable:
            search.stop("none", "budget spent")
        elif (failed := replays.failure(WHOLE)) is not None:
            search.stop("unstable", f"a replay failed: {failed}")
        elif replays.showing(WHOLE, search.decision) == 0:
            search.stop("unstable", "replaying the whole prompt does not show it")


def _credit(
    episode: Episode,
    prompt: Sequence[Card],
    search: _Search,
    card_id: str,
    replays: Replays,
    scorer: Scorer | None,
) -> Credit:
    sets = [removal for removal in search.gains if card_id in removal]
    weight = min(1.0, sum(search.gains[removal] / len(removal) for removal in sets) / max(len(search.gains), 1))
    kind: Literal["sole", "joint", "none", "unstable"] = "none"
    change = None
    if sets:
        kind = "sole" if len(sets[0]) == 1 else "joint"
        reason = _why_responsible(search, card_id, sets)
        change = _utility_change(sets, replays, scorer) if scorer else None
    elif card_id not in search.cited:
        reason = _why_not_eligible(episode, prompt, search.decision, card_id)
    elif search.stopped:
        kind, reason = search.stopped
    elif any(len(removal) == 1 for removal in search.gains):
        reason = "removing it changes nothing"
    else:
        reason = f"removing it changes nothing, alone or in a minimal set of up to {LARGEST_SET}"
    return Credit(
        id=content_hash(episode.id, card_id, search.decision, kind, repr(weight), repr(change))[:32],
        episode_id=episode.id,
        card_id=card_id,
        decision=search.decision,
        weight=weight,
        kind=kind,
        reason=reason,
        utility_change=change,
    )


def _utility_change(sets: Sequence[Removal], replays: Replays, scorer: Scorer) -> float | None:
    """U(whole) − U(without), over the minimal sets that the card belongs to."""
    whole = replays.utility(WHOLE, scorer)
    without = [replays.utility(removal, scorer) for removal in sets]
    known = [value for value in without if value is not None]
    if whole is None or len(known) < len(without):
        return None
    return whole - sum(known) / len(known)


def _why_responsible(search: _Search, card_id: str, sets: Sequence[Removal]) -> str:
    if len(sets[0]) == 1:
        others = len(search.gains) - 1
        return "removing it changes the decision" + (f", as does each of {others} others" if others else "")
    company = "; ".join(", ".join(c for c in search.cited if c in removal and c != card_id) for removal in sets)
    return f"removing it changes the decision only together with {company}"


def _why_not_eligible(episode: Episode, prompt: Sequence[Card], decision: str, card_id: str) -> str:
    cited = _citing(episode)
    if all(card.id != card_id for card in prompt):
        given = any(trace.card_id == card_id and not trace.withheld for trace in episode.recalled)
        return "handed in as another version than was recalled" if given else "withheld by exploration"
    if any(card_id in named for named in cited.values()):
        return "cited for another decision"
    return "recalled but not cited" if cited.get(decision) else "nothing is cited and its stance does not name it"
