"""The public face: `Memory`, and `AsyncMemory` derived from it."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from afterwit import models
from afterwit.chat.meter import metered
from afterwit.compose import open_chat, open_parts
from afterwit.credit.gate.evidence import EvidenceGate
from afterwit.decisions.extraction import Extractor
from afterwit.decisions.likeness import Likeness
from afterwit.decisions.vocabulary import Vocabulary
from afterwit.digest.answer import Answerer
from afterwit.digest.catalogue import Catalogue
from afterwit.digest.chunk import ChunkRules
from afterwit.digest.extractive import Extractive
from afterwit.digest.fold import Folding, Writer
from afterwit.digest.profile import UserProfile
from afterwit.errors import ConditionError, Conflict, InputError, NotFound, StoreError
from afterwit.evolve import by_hand
from afterwit.evolve.compare import BankDiff, diff
from afterwit.evolve.learn import Learner
from afterwit.evolve.operators.restore import rollback
from afterwit.evolve.stages.learn import BOTH, StageLearner
from afterwit.evolve.stages.rules import StageRules
from afterwit.evolve.worded.reword import reword
from afterwit.generate.choose import Chooser
from afterwit.model import (
    Bank,
    Card,
    Condition,
    Context,
    Edit,
    Episode,
    Recalled,
    Round,
    Stance,
    Value,
    count_tokens,
    fold,
    new_id,
)
from afterwit.model.condition import check_value
from afterwit.ports import Capacity, Chat, Clock, Embedder, Forgotten, Gate, Generator, Progress
from afterwit.recall.recaller import Recaller
from afterwit.recall.render import contains_recalled, render, short_id
from afterwit.record.ingest import IngestReport, ingest
from afterwit.record.recorder import EpisodeRecorder

When = Condition | Mapping[str, Value | Iterable[Value]] | str | None


class Memory:
    """A bounded memory of one scope that learns from outcomes.

    url: a path of an SQLite file, or ``:memory:``. scope: isolates tenant and agent, such as ``acme/push``.
    capacity: B, live cards a bank may hold. vocabulary: of named decisions in text, a bundled name or a path.
    meaning: also learn from what texts are like in meaning, at about a millisecond a text and round.
    generator: the agent's frozen generator, where credit should replay it; without one the built-in chooser
    replays the episodes that had candidates. create: whether an unknown scope is made or refused.
    model: who words new cards, checked against their evidence, and gates episodes where no gate is given: a `Chat`,
    or ``local``, ``openai:NAME``, ``anthropic:NAME``. gate: says which stage an outcome is due to, for the banks
    ``planning`` and ``execution``; without model and gate, by evidence in the record alone.
    """

    def __init__(
        self,
        url: str | Path = "memory.db",
        *,
        scope: str,
        capacity: int = 80,
        objective: str = "click",
        vocabulary: str | Path | None = None,
        meaning: bool = False,
        generator: Generator | None = None,
        model: Chat | str | None = None,
        gate: Gate | None = None,
        embedder: Embedder | None = None,
        clock: Clock | None = None,
        create: bool = True,
    ) -> None:
        if capacity < 1:
            raise InputError(f"capacity is {capacity}: a memory must hold at least 1 card")
        if not scope.strip():
            raise InputError("the scope is empty: name tenant and agent, such as 'acme/push'")
        self.scope = scope
        self.capacity = Capacity(cards=capacity, tokens=60 * capacity)
        named = Vocabulary.load(vocabulary) if vocabulary else None
        self._chat = metered(open_chat(model) if isinstance(model, str) else model)
        self._gate = gate or (models.gate(self._chat) if self._chat else EvidenceGate())
        self._parts = open_parts(url, scope=scope, create=create, embedder=embedder, clock=clock)
        extractor = Extractor(vocabulary=named, likeness=Likeness(embed=self._parts.embedder, mine=meaning))
        self._store = self._parts.store
        self._learner = Learner(
            extractor=extractor,
            generator=generator or Chooser(extractor.shown),
            objective=objective,
            capacity=self.capacity,
        )
        self._recall = Recaller(
            self._store,
            self._parts.embedder,
            self._parts.clock,
            shown=extractor.shown,
            follow=extractor.follow,
        )

    # Recall and record

    def episode(
        self, task: str, *, context: Context | None = None, candidates: Sequence[str] = (), id: str | None = None
    ) -> EpisodeRecorder:
        """One task to serve: a context manager on which to recall, decide, act and deliver.

        Raises ConditionError for a context value that is no text, number or truth value.
        """
        for field, value in (context or {}).items():
            check_value(field, value)
        episode = Episode(
            id=id or new_id(),
            scope=self.scope,
            task=task,
            context=dict(context or {}),
            started_at=self._parts.clock(),
            candidates=tuple(candidates),
        )
        return EpisodeRecorder(episode, store=self._store, clock=self._parts.clock, recall=self._recall)

    def profile(
        self,
        user: str,
        *,
        budget: int = 5000,
        query: str = "",
        writer: Writer | None = None,
        catalogue: Catalogue | None = None,
        chunking: ChunkRules = ChunkRules(),
        count: Callable[[str], int] = count_tokens,
    ) -> UserProfile:
        """What is remembered of a user, within ``budget`` tokens whatever the length of the history.

        writer: who folds; the memory's model where it has one, else counting. catalogue: what is known of items beside
        the user. count: the tokenizer in use. Raises InputError for a budget that holds nothing.
        """
        if not user.strip() or budget < 50:
            raise InputError(f"a profile of {user!r} in {budget} tokens: name the user and give at least 50 tokens")
        known = catalogue or Catalogue()
        chosen = writer or (models.profile_writer(self._chat) if self._chat else Extractive(rarity=known.rarity))
        return UserProfile(
            store=self._store,
            scope=self.scope,
            user=user,
            folding=Folding(writer=chosen, count=count, clock=self._parts.clock),
            answerer=Answerer(embedder=self._parts.embedder, rarity=known.rarity, prior=known.chosen),
            budget=budget,
            query=query,
            rules=chunking,
        )

    def users(self) -> tuple[str, ...]:
        """Who has a profile."""
        return self._store.users(self.scope)

    def search(
        self,
        query: str,
        *,
        context: Context | None = None,
        bank: str = "content",
        k: int = 3,
        candidates: Sequence[str] = (),
    ) -> tuple[tuple[Card, Recalled], ...]:
        """What a recall would give, without an episode and without leaving a trace."""
        episode = Episode(
            id="search",
            scope=self.scope,
            task=query,
            context=dict(context or {}),
            started_at=self._parts.clock(),
            candidates=tuple(candidates),
        )
        return self._recall(episode, bank=bank, k=k)

    def render(self, cards: Sequence[Card], *, budget_tokens: int = 800) -> str:
        """The cards as a block of data for a prompt, never as orders, whole cards within the budget."""
        return render(cards, budget_tokens=budget_tokens)

    # The bank by hand

    def add(
        self,
        guidance: str,
        *,
        key: str | None = None,
        when: When = None,
        prefer: str | None = None,
        avoid: str | None = None,
        topic: str | None = None,
        bank: str = "content",
        trust: Literal["user", "model", "page"] = "user",
        valid_until: datetime | None = None,
    ) -> Card:
        """A card by hand; the same card twice is one card, and text that holds recalled cards is not learned again.

        prefer, avoid: a decision such as ``hook=question`` that the card is for or against. topic: the newest
        statement on a topic retires the older one. Raises ConditionError for a field that no episode or delivery
        of the scope ever had, CapacityExceeded for a full bank.
        """
        if prefer and avoid:
            raise InputError("a card is for or against one decision: give prefer= or avoid=, not both")
        condition = self._condition(when)
        now = self._bank(bank)
        if known := _quoted(guidance, now.cards):
            return known
        decision = prefer or avoid
        card, edit = by_hand.add(
            now,
            guidance,
            key=key or guidance,
            when=condition,
            topic=topic,
            trust=trust,
            at=self._parts.clock(),
            stance=Stance(decision=decision, prefer=prefer is not None) if decision else None,
            valid_until=valid_until,
        )
        if edit is not None:
            self._commit(by_hand.round_of(now, edit, self._parts.clock()))
            # Somebody may have added the same meanwhile: then theirs is the card.
            return next(c for c in self._bank(bank).cards if c.content_hash == card.content_hash)
        return card

    def get(self, card_id: str) -> Card:
        """The latest version of a card, retired ones included. Raises NotFound."""
        versions = self.history(card_id)
        return next(card for edit in reversed(versions) for card in edit.writes if card.id == card_id)

    def update(self, card_id: str, guidance: str) -> Card:
        card = self.get(card_id)
        if not card.live:
            raise Conflict(f"card {card_id} is retired: add it again, or roll back to when it was live")
        self._by_hand(card, by_hand.update(card, guidance, at=self._parts.clock()))
        return self.get(card_id)

    def delete(self, card_id: str) -> None:
        """Retires a card; its history stays. To erase the text, use ``forget``."""
        card = self.get(card_id)
        if card.live:
            self._by_hand(card, by_hand.delete(card))

    def history(self, card_id: str) -> tuple[Edit, ...]:
        """The edits that wrote a card, oldest first. Raises NotFound."""
        edits = self._store.edits(self.scope, card_id=card_id)
        if not any(card.id == card_id for edit in edits for card in edit.writes):
            raise NotFound(f"there is no card {card_id} in scope {self.scope}")
        return edits

    def cards(self, *, bank: str = "content", as_of: datetime | None = None) -> tuple[Card, ...]:
        return self._bank(bank, as_of=as_of).cards

    # Outcomes and learning

    def ingest(
        self,
        paths: str | Path | Sequence[str | Path],
        *,
        mapping: str | Path | None = None,
        timezone: str | None = None,
        rejects: Path | None = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Reads delivery logs: idempotent, out of order and late is fine, bad rows are set aside with a reason."""
        many = [paths] if isinstance(paths, str | Path) else list(paths)
        return ingest(
            many,
            scope=self.scope,
            mapping=mapping,
            store=self._store,
            log=self._parts.log,
            timezone=timezone,
            rejects=rejects or self._parts.folder.with_suffix(".rejects.jsonl"),
            now=self._parts.clock(),
            progress=progress,
        )

    def evolve(
        self,
        *,
        bank: str = "content",
        as_of: datetime | None = None,
        final: bool = False,
        dry_run: bool = False,
        approval: bool = False,
    ) -> Round:
        """Credit, then edits, atomically, from what was available at ``as_of``.

        final: spend the tests that are still open, as before a freeze. dry_run: plan the round and change
        nothing. approval: store the round as proposed; ``approve`` applies it. What a model cost stands in the round's
        figures: model_calls, model_cached, model_failed, model_tokens, model_seconds and, where prices are known,
        model_cost.
        """
        moment = _zoned(as_of) or self._parts.clock()
        before = self._chat.usage if self._chat else None
        if bank in BOTH:
            round_ = self._stage_learner().plan(self._store, scope=self.scope, bank=bank, as_of=moment)
        else:
            round_ = self._learner.plan(
                self._store, self._parts.log, scope=self.scope, bank=bank, as_of=moment, final=final
            )
            if self._chat is not None:
                round_ = self._worded(round_, self._chat)
        if self._chat and before is not None:
            round_ = replace(round_, figures={**round_.figures, **self._chat.usage.since(before).figures})
        if dry_run:
            return replace(round_, status="proposed")
        if approval:
            round_ = replace(round_, status="proposed")
        self._commit(round_)
        return round_

    def approve(self, round_id: str, *, reject: bool = False) -> Round:
        """Applies or rejects a proposed round. Raises Conflict if the bank has moved since it was planned."""
        round_ = self._store.round(self.scope, round_id)
        self._store.decide_round(
            self.scope, round_id, approve=not reject, capacity=self._room(round_.bank), vectors=self._vectors(round_)
        )
        return self._store.round(self.scope, round_id)

    def rounds(self, *, bank: str | None = None, limit: int | None = None) -> tuple[Round, ...]:
        return self._store.rounds(self.scope, bank=bank, limit=limit)

    def diff(self, before: datetime, after: datetime | None = None, *, bank: str = "content") -> BankDiff:
        """What changed in a bank between two moments."""
        return diff(self._bank(bank, as_of=before), self._bank(bank, as_of=after))

    def rollback(self, *, to: datetime, bank: str = "content") -> Round:
        """Puts the bank back to what it was, as a new round: nothing of the history is lost."""
        now = self._bank(bank)
        latest = fold(self._store.edits(self.scope, bank=bank))
        edits = rollback(now, self._bank(bank, as_of=to), latest)
        round_ = Round(
            id=edits[0].id if edits else new_id(),  # the round that the cards written name
            scope=self.scope,
            bank=bank,
            as_of=self._parts.clock(),
            base_version=now.version,
            edits=edits,
            note=f"rolled back to {to.isoformat()}",
        )
        self._commit(round_)
        return round_

    # Erasing and moving

    def forget(
        self,
        *,
        card_id: str | None = None,
        episode_id: str | None = None,
        delivery_id: str | None = None,
        user: str | None = None,
        everything: bool = False,
    ) -> Forgotten:
        """Erases text from every table, index, segment and free page; a tombstone without content stays."""
        forgotten = self._store.forget(
            self.scope,
            card_id=card_id,
            episode_id=episode_id,
            delivery_id=delivery_id,
            user=user,
            everything=everything,
        )
        gone = [name.removeprefix("delivery:") for name in forgotten.tombstones if name.startswith("delivery:")]
        if everything or gone:
            self._parts.log.forget(self.scope, None if everything else gone)
        self._recall.forget()
        return forgotten

    def export(self, path: Path) -> int:
        """Writes the scope as JSON Lines, whole or not at all; the number of lines."""
        temporary = path.with_name(path.name + ".partial")
        count = 0
        try:
            with temporary.open("w", encoding="utf-8", newline="\n") as file:
                for line in self._store.export(self.scope):
                    file.write(line + "\n")
                    count += 1
            temporary.replace(path)
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror or error}; nothing was left there") from None
        finally:
            temporary.unlink(missing_ok=True)
        return count

    def check(self) -> tuple[str, ...]:
        """Problems found in the ledger; empty when sound."""
        return self._store.check(self.scope)

    def close(self) -> None:
        self._parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Inside

    def _bank(self, name: str, *, as_of: datetime | None = None) -> Bank:
        return self._store.bank(self.scope, name, as_of=_zoned(as_of))

    def _condition(self, when: When) -> Condition:
        condition = Condition.of(when)
        known = self._store.fields(self.scope)
        for field in sorted(condition.fields):
            if known and field not in known:
                fields = ", ".join(sorted(known))
                raise ConditionError(f"condition on unknown field {field!r}: this scope knows {fields}")
        return condition

    def _by_hand(self, card: Card, edit: Edit) -> None:
        self._commit(by_hand.round_of(self._bank(card.bank), edit, self._parts.clock()))

    def _commit(self, round_: Round) -> None:
        self._store.commit(round_, capacity=self._room(round_.bank), vectors=self._vectors(round_))

    def _room(self, bank: str) -> Capacity:
        return StageRules().capacity if bank in BOTH else self.capacity

    def _stage_learner(self) -> StageLearner:
        return StageLearner(gate=self._gate, embedder=self._parts.embedder)

    def _worded(self, round_: Round, chat: Chat) -> Round:
        known = {card.id: card for card in self._bank(round_.bank).cards}
        values = {value for d in self._store.deliveries(self.scope) for value in d.context.values()}
        return reword(round_, known, models.worder(chat, values=values))

    def _vectors(self, round_: Round) -> dict[str, Any]:
        live = [card for edit in round_.edits for card in edit.writes if card.live]
        return dict(zip([c.id for c in live], self._parts.embedder([c.key for c in live]), strict=True)) if live else {}


def _quoted(text: str, cards: Sequence[Card]) -> Card | None:
    """The card that a text quotes. Raises InputError for rendered notes that no card of the bank says (any more)."""
    for card in cards:
        if f"[{short_id(card)}]" in text:
            return card
    if contains_recalled(text, ()):
        raise InputError("the text holds rendered notes of cards that this bank does not have: leave the notes out")
    return next((card for card in cards if contains_recalled(text, [card])), None)


def _zoned(moment: datetime | None) -> datetime | None:
    if moment is not None and moment.tzinfo is None:
        raise InputError(f"the time {moment.isoformat()} has no timezone: give one, such as UTC")
    return moment


def _awaitable(method: Any) -> Any:
    @wraps(method)
    async def call(self: "AsyncMemory", *arguments: Any, **named: Any) -> Any:
        return await asyncio.to_thread(method, self.memory, *arguments, **named)

    return call


class AsyncMemory:
    """`Memory` for asyncio: the same methods, awaited; each runs in a worker thread.

    ``episode`` is the exception: it opens at once, and its recorder is used as it is, since recording is a few
    local writes.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.memory = Memory(*arguments, **named)
        self.episode = self.memory.episode
        self.render = self.memory.render

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.memory.close()


for _name in (
    "add",
    "approve",
    "cards",
    "check",
    "close",
    "delete",
    "diff",
    "evolve",
    "export",
    "forget",
    "get",
    "history",
    "ingest",
    "rollback",
    "rounds",
    "search",
    "update",
):
    setattr(AsyncMemory, _name, _awaitable(getattr(Memory, _name)))
