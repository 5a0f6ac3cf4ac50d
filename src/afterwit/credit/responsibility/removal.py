"""Replays of one episode's prompt with some cards removed: cached, bounded, concurrent."""

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from afterwit.errors import AfterwitError, UsageError
from afterwit.model import Card, Draft, Episode, Task, content_hash
from afterwit.ports import Generator

Removal = frozenset[str]
"""Ids of the cards left out of a prompt; empty for the whole prompt."""

WHOLE: Removal = frozenset()


@dataclass(frozen=True, kw_only=True)
class ReplayRules:
    """seeds: replays of each prompt, 1 for a deterministic generator. seed: the first of them. per_episode,
    per_call: generator calls at most for one episode, and for one call over many. workers: calls at a time.

    Raises UsageError for fewer than one seed or worker.
    """

    seeds: int = 1
    seed: int = 0
    per_episode: int = 200
    per_call: int = 20_000
    workers: int = 8

    def __post_init__(self) -> None:
        if self.seeds < 1 or self.workers < 1:
            raise UsageError(f"replays need at least one seed and one worker, not {self.seeds} and {self.workers}")


@dataclass(frozen=True, eq=False)
class ReplayCache:
    """Drafts by the content of what was asked; cached replays cost none of the budget.

    A generator with an ``identity`` (a string that changes with its model, prompt and settings) shares its entries
    with every generator of that identity; any other counts as itself alone, for as long as the cache lives.
    """

    drafts: dict[str, Draft] = field(default_factory=dict)
    _strangers: list[Generator] = field(default_factory=list, repr=False)

    def identity(self, generator: Generator) -> str:
        declared = getattr(generator, "identity", None)
        if isinstance(declared, str):
            return f"named:{declared}"
        for place, known in enumerate(self._strangers):
            if known is generator:
                return f"object:{place}"
        self._strangers.append(generator)
        return f"object:{len(self._strangers) - 1}"


class Replays:
    """What a frozen generator answers to one episode's prompt, whole and with cards removed.

    Prompts are reserved first, so that the budget is spent in an order that scheduling cannot change, then run.
    """

    def __init__(
        self,
        episode: Episode,
        prompt: Sequence[Card],
        generator: Generator,
        *,
        rules: ReplayRules,
        cache: ReplayCache,
        budget: int,
        shown: "Shown | None" = None,
    ) -> None:
        self._task = Task(text=episode.task, context=episode.context, candidates=episode.candidates)
        self._prompt = tuple(prompt)
        self._generator = generator
        self._rules = rules
        self._cache = cache
        self._left = budget
        self._shown = shown
        self._seeds = range(rules.seed, rules.seed + rules.seeds)
        context = repr(sorted(episode.context.items()))
        self._asked = (cache.identity(generator), episode.task, context, repr(episode.candidates))
        # The repr holds id, version, text and the numbers that a generator may read.
        self._printed = [repr(card) for card in self._prompt]
        self._answers: dict[tuple[Removal, int], Draft | AfterwitError] = {}
        self._waiting: list[tuple[Removal, int]] = []
        self.spent = 0

    def reserve(self, removals: Collection[Removal]) -> bool:
        """Puts all of these down to be replayed; False, and none of them, where the budget does not reach."""
        asked = ((removal, seed) for removal in removals for seed in self._seeds)
        new = [place for place in asked if place not in self._answers and place not in self._waiting]
        cached = {place: draft for place in new if (draft := self._cache.drafts.get(self._key(*place))) is not None}
        cost = len(new) - len(cached)
        if cost > self._left:
            return False
        self._answers.update(cached)
        self._waiting.extend(place for place in new if place not in cached)
        self._left -= cost
        self.spent += cost
        return True

    def run(self) -> None:
        """Replays what was reserved. An AfterwitError of the generator is kept as its answer; others are raised."""
        if self._rules.workers > 1 and len(self._waiting) > 1:
            with ThreadPoolExecutor(max_workers=min(self._rules.workers, len(self._waiting))) as pool:
                answers = list(pool.map(self._ask, self._waiting))
        else:
            answers = [self._ask(place) for place in self._waiting]
        for place, answer in zip(self._waiting, answers, strict=True):
            self._answers[place] = answer
            if isinstance(answer, Draft):
                self._cache.drafts[self._key(*place)] = answer
        self._waiting.clear()

    def failure(self, removal: Removal) -> AfterwitError | None:
        """Why the generator could not serve this prompt, if it could not."""
        answers = (self._answers[removal, seed] for seed in self._seeds)
        return next((answer for answer in answers if isinstance(answer, AfterwitError)), None)

    def showing(self, removal: Removal, decision: str) -> int:
        """In how many of the seeds the draft shows the decision."""
        return sum(self._shows(draft, decision) for draft in self._drafts(removal))

    def utility(self, removal: Removal, scorer: "Scorer") -> float | None:
        """Mean over the seeds; None where the scorer cannot tell for one of them."""
        found = [scorer(draft) for draft in self._drafts(removal)]
        known = [value for value in found if value is not None]
        return sum(known) / len(known) if len(known) == len(found) else None

    def _shows(self, draft: Draft, decision: str) -> bool:
        """Listed by the generator, or visible in the output; ``not:`` is visible where the task left the choice."""
        if any(d.key == decision for d in draft.decisions):
            return True
        if self._shown is None:
            return False
        avoided = decision.removeprefix("not:")
        if avoided == decision:
            return decision in self._shown(draft.output)
        return avoided not in self._shown(draft.output) and any(
            avoided in self._shown(candidate) for candidate in self._task.candidates
        )

    def _drafts(self, removal: Removal) -> list[Draft]:
        answers = (self._answers[removal, seed] for seed in self._seeds)
        return [answer for answer in answers if isinstance(answer, Draft)]

    def _ask(self, place: tuple[Removal, int]) -> Draft | AfterwitError:
        removal, seed = place
        try:
            return self._generator(self._task, [c for c in self._prompt if c.id not in removal], seed=seed)
        except AfterwitError as error:
            return error

    def _key(self, removal: Removal, seed: int) -> str:
        kept = (text for card, text in zip(self._prompt, self._printed, strict=True) if card.id not in removal)
        return content_hash(*self._asked, str(seed), *kept)


Shown = Callable[[str], frozenset[str]]
"""Decision keys that a text shows."""

Scorer = Callable[[Draft], float | None]
"""Utility of a draft, higher is better; None where it is not known."""
