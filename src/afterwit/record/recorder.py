"""An episode while it is open: what the agent recalled, decided, did and delivered."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from afterwit.errors import Conflict, InputError
from afterwit.model import Card, Citation, Decision, Delivery, Draft, Episode, Recalled, Step
from afterwit.ports import Clock, Store

Recall = Callable[..., tuple[tuple[Card, Recalled], ...]]


class EpisodeRecorder:
    """Context manager around one task; writes the episode when it closes, and each recall at once.

    An exception inside the block is recorded as a failed episode and raised again.
    """

    def __init__(self, episode: Episode, *, store: Store, clock: Clock, recall: Recall) -> None:
        self._episode = episode
        self._store = store
        self._clock = clock
        self._recall = recall
        self._deliveries: list[Delivery] = []
        self._closed = False

    @property
    def id(self) -> str:
        return self._episode.id

    def recall(
        self, *, bank: str = "content", k: int = 3, query: str | None = None, explore: float = 0.0
    ) -> tuple[Card, ...]:
        """The cards for this task, best first; recorded with rank, similarity and score.

        query: replaces the task as what is searched for, such as the step at hand. explore: probability with
        which each card is withheld, seeded by the episode and logged, so that a card that is always followed
        still gets controls.
        """
        found = self._recall(self._episode, bank=bank, k=k, query=query, explore=explore)
        self._store.record_recall(self._episode.scope, self._episode.id, [trace for _, trace in found], self._clock())
        self._change(recalled=(*self._episode.recalled, *(trace for _, trace in found)))
        return tuple(card for card, trace in found if not trace.withheld)

    def decide(self, name: str, value: str, *, because: Iterable[Card | str] = ()) -> None:
        """Declares a decision visible in the output, and cites the cards (or their ids) that caused it.

        Raises Conflict for a card that this episode did not recall (law 1), InputError for a name with ``=`` or ``:``
        in it, or without a letter.
        """
        if not name.strip() or "=" in name or ":" in name or not value.strip():
            raise InputError(f"decision {name!r} = {value!r}: give a name without '=' and ':', and a value")
        decision = Decision(name=name, value=value)
        cited = _ids(because)
        self._cite(decision.key, cited)
        self._change(decisions=(*self._episode.decisions, decision))

    def draft(self, draft: Draft) -> None:
        """Records a generator's draft whole: output, decisions and citations."""
        for citation in draft.citations:
            self._cite(citation.decision, citation.cards)
        self._change(output=draft.output, decisions=(*self._episode.decisions, *draft.decisions))

    def plan(self, plan: str, *, because: Iterable[Card | str] = ()) -> None:
        """Records the plan, and cites the cards that shaped it."""
        self._cite("plan", _ids(because))
        self._change(plan=plan)

    def step(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        result: str | None = None,
        error: str | None = None,
        because: Iterable[Card | str] = (),
    ) -> None:
        """Records a tool call with its result or error, and cites the cards that caused it (``step 1``, …)."""
        self._cite(f"step {len(self._episode.steps) + 1}", _ids(because))
        step = Step(tool=tool, arguments=dict(arguments or {}), result=result, error=error)
        self._change(steps=(*self._episode.steps, step))

    def output(self, text: str) -> None:
        self._change(output=text)

    def deliver(
        self,
        delivery_id: str,
        text: str | None = None,
        *,
        experiment: str | None = None,
        placement: str | None = None,
        audience: str | None = None,
        policy: str | None = None,
        propensity: float | None = None,
    ) -> None:
        """Names the id under which the world sees the output: the id that the delivery log uses."""
        self._deliveries.append(
            Delivery(
                id=delivery_id,
                scope=self._episode.scope,
                created_at=self._clock(),
                text=text if text is not None else self._episode.output or "",
                context=self._episode.context,
                experiment=experiment,
                placement=placement,
                audience=audience,
                policy=policy,
                propensity=propensity,
                episode_id=self._episode.id,
            )
        )
        self._change(delivery_ids=(*self._episode.delivery_ids, delivery_id))

    def finish(self, *, success: bool | None = None, feedback: str | None = None) -> None:
        """The verdict, where one is known at once; later outcomes come through ``ingest``."""
        self._change(success=success, feedback=feedback)

    def keep(self) -> Episode:
        """Writes the episode as it is and leaves it open, for another request or process to resume. Raises Conflict
        where it names a delivery, which closes it."""
        if self._deliveries:
            raise Conflict(f"episode {self._episode.id} names a delivery: close it")
        self._store.save_episode(self._episode)
        return self._episode

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.finish(success=False, feedback=f"ended by {type(error).__name__}: {error}")
        self.close()

    def close(self) -> Episode:
        """Writes the episode and its deliveries, both or neither; a second call changes nothing."""
        if not self._closed:
            self._change(ended_at=self._clock())
            # What a generator found in its own output is for the extractor to find, not a declaration that beats it.
            declared = tuple(d for d in self._episode.decisions if d.source == "declared")
            made = [replace(d, decisions=declared) for d in self._deliveries]
            self._store.save_episode(self._episode, deliveries=made)
            self._closed = True
        return self._episode

    def _cite(self, decision: str, cards: Sequence[str]) -> None:
        known = {trace.card_id for trace in self._episode.recalled if not trace.withheld}
        foreign = [card for card in cards if card not in known]
        if foreign:
            raise Conflict(f"card {foreign[0]} is cited for {decision} but this episode did not recall it")
        if cards:
            citation = Citation(decision=decision, cards=tuple(cards))
            self._change(citations=(*self._episode.citations, citation))

    def _change(self, **changes: Any) -> None:
        if self._closed:
            raise Conflict(f"episode {self._episode.id} is closed: open another one")
        self._episode = replace(self._episode, **changes)


def _ids(because: Iterable[Card | str]) -> tuple[str, ...]:
    return tuple(card if isinstance(card, str) else card.id for card in because)
