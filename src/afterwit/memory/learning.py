"""Outcomes and what is learned from them: logs, rounds, time travel."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from afterwit import models
from afterwit.compose.rehearsal import rehearse
from afterwit.evolve.compare import BankDiff, diff
from afterwit.evolve.operators.restore import rollback
from afterwit.evolve.stages.learn import BOTH, StageLearner
from afterwit.evolve.stages.rules import StageRules
from afterwit.evolve.worded.reword import reword
from afterwit.memory.opened import Opened, zoned
from afterwit.model import (
    Round,
    fold,
    new_id,
)
from afterwit.ports import Chat, Progress
from afterwit.record.ingest import IngestReport, ingest


class Learning(Opened):
    """Outcomes and learning."""

    def ingest(
        self,
        paths: str | Path | Sequence[str | Path],
        *,
        mapping: str | Path | None = None,
        timezone: str | None = None,
        time_format: str | None = None,
        rejects: Path | None = None,
        progress: Progress | None = None,
        dry_run: bool = False,
    ) -> IngestReport:
        """Reads delivery logs: idempotent, out of order and late is fine, bad rows are set aside with a reason.

        dry_run: change nothing; the report then also says what temporal credit thinks of the deliveries.
        """
        many = [paths] if isinstance(paths, str | Path) else list(paths)
        read = rehearse if dry_run else ingest
        return read(
            many,
            scope=self.scope,
            mapping=mapping,
            store=self._store,
            log=self._parts.log,
            timezone=timezone,
            time_format=time_format,
            rejects=rejects or (self._parts.folder or Path("memory")).with_suffix(".rejects.jsonl"),
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
        moment = zoned(as_of) or self._parts.clock()
        before = self._chat.usage if self._chat else None
        if bank in BOTH:
            round_ = self._stage_learner(bank).plan(self._store, scope=self.scope, bank=bank, as_of=moment)
        else:
            round_ = self._learner(bank).plan(
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

    def rounds(
        self, *, bank: str | None = None, limit: int | None = None, before: str | None = None
    ) -> tuple[Round, ...]:
        """Newest first; ``before`` names the last one already seen."""
        return self._store.rounds(self.scope, bank=bank, limit=limit, before=before)

    def round(self, round_id: str) -> Round:
        """Raises NotFound."""
        return self._store.round(self.scope, round_id)

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

    def _stage_learner(self, bank: str) -> StageLearner:
        rules = StageRules(capacity=self._room(bank))
        return StageLearner(gate=self._gate, embedder=self._parts.embedder, rules=rules)

    def _worded(self, round_: Round, chat: Chat) -> Round:
        known = {card.id: card for card in self._bank(round_.bank).cards}
        values = {value for d in self._store.deliveries(self.scope) for value in d.context.values()}
        return reword(round_, known, models.worder(chat, values=values))
