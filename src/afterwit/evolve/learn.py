"""From the ledger and the event log to a planned round: gather, credit, plan."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from afterwit.credit.assess import assess
from afterwit.credit.deliveries import DeliveryTable
from afterwit.credit.evidence import EvidenceTable
from afterwit.credit.items import Design, Items
from afterwit.credit.lifecycle import lifecycles
from afterwit.credit.replay import responsibility
from afterwit.decisions.extraction import Extractor
from afterwit.decisions.mining import description_of
from afterwit.evolve.round import plan_round
from afterwit.evolve.rules import EvolveRules
from afterwit.model import Bank, Batch, Card, Credit, Episode, Refusal, Round
from afterwit.ports import Capacity, EventLog, Generator, Store

_IDLE = timedelta(days=180)


@dataclass(frozen=True, kw_only=True, eq=False)
class Learned:
    """What was known at a moment: ready items, the decisions that they show, the evidence, and what was not ripe."""

    items: Items
    design: Design
    evidence: EvidenceTable
    refused: tuple[Refusal, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Learner:
    """extractor: of decisions from text. generator: frozen, for the replay of responsibility credit; None where
    nothing was recalled. objective: what cards are for. capacity: of the bank."""

    extractor: Extractor
    generator: Generator | None = None
    objective: str = "click"
    capacity: Capacity = field(default_factory=Capacity)

    def study(self, events: Any, deliveries: DeliveryTable, as_of: datetime) -> Learned:
        """Temporal and semantic credit from what was available at ``as_of``."""
        found = lifecycles(events, deliveries, as_of)
        return replace(self.learn(found.items(), as_of), refused=found.refused)

    def learn(self, items: Items, as_of: datetime) -> Learned:
        """Semantic credit from items that are ripe."""
        names, matrix = self.extractor.design(items.texts, items.strata, items.declared)
        design = Design(names=names, matrix=matrix)
        evidence = assess(items, design, objective=self.objective, as_of=as_of)
        return Learned(items=items, design=design, evidence=evidence)

    def round(
        self,
        bank: Bank,
        learned: Learned,
        *,
        history: Sequence[Batch],
        as_of: datetime,
        final: bool,
        credits: tuple[Credit, ...] = (),
        idle: frozenset[str] = frozenset(),
        round_id: str | None = None,
    ) -> Round:
        """The edits that the evidence demands of a bank; nothing is written."""
        planned = plan_round(
            bank,
            learned.evidence,
            items=learned.items,
            design=learned.design,
            history=history,
            credits=credits,
            idle=idle,
            as_of=as_of,
            final=final,
            describe=self.describe,
            rules=EvolveRules(capacity=self.capacity),
            round_id=round_id,
        )
        return replace(planned, refused=(*learned.refused, *planned.refused))

    def plan(
        self, store: Store, log: EventLog, *, scope: str, bank: str, as_of: datetime, final: bool = False
    ) -> Round:
        """A round on the bank as it stands; nothing is written."""
        now = store.bank(scope, bank)
        self.extractor.follow(card.stance.decision for card in now.cards if card.stance)
        learned = self.study(log.table(scope), DeliveryTable.of(store.deliveries(scope, until=as_of)), as_of)
        earlier = [r for r in reversed(store.rounds(scope, bank=bank)) if r.status == "applied"]
        episodes = tuple(store.episodes(scope, until=as_of))
        return self.round(
            now,
            learned,
            history=[r.batch for r in earlier if r.batch is not None],
            as_of=as_of,
            final=final,
            credits=tuple(self._credits(store, bank, earlier, episodes)),
            idle=_idle(now, episodes, as_of),
        )

    def describe(self, decision: str) -> str:
        """What a decision is called in a card."""
        named = self.extractor.vocabulary.describe(decision) if self.extractor.vocabulary else None
        return named or description_of(decision)

    def _credits(
        self, store: Store, bank: str, earlier: Sequence[Round], episodes: Sequence[Episode]
    ) -> Iterator[Credit]:
        """Responsibility of every closed episode that no earlier round has credited."""
        done = {credit.episode_id for round_ in earlier for credit in round_.credits}
        for episode in episodes:
            if self.generator is None or episode.id in done or not episode.decisions:
                continue
            cards = _as_recalled(store, episode, bank)
            if cards:
                yield from responsibility(episode, cards, self.generator, shown=self.extractor.shown)


def _as_recalled(store: Store, episode: Episode, bank: str) -> tuple[Card, ...]:
    """The very versions that the episode saw."""
    wanted = {(r.card_id, r.version) for r in episode.recalled if r.bank == bank and not r.withheld}
    found = {}
    for card_id in {card_id for card_id, _ in wanted}:
        for edit in store.edits(episode.scope, bank=bank, card_id=card_id):
            found.update({(c.id, c.version): c for c in edit.writes if (c.id, c.version) in wanted})
    return tuple(found[key] for key in sorted(found))


def _idle(bank: Bank, episodes: Sequence[Episode], as_of: datetime) -> frozenset[str]:
    """Cards older than 180 days that none of the episodes since then recalled; none where nothing was served."""
    recent = [episode for episode in episodes if episode.started_at > as_of - _IDLE]
    if not recent:
        return frozenset()
    recalled = {trace.card_id for episode in recent for trace in episode.recalled}
    return frozenset(c.id for c in bank.cards if c.created_at <= as_of - _IDLE and c.id not in recalled)
