"""From the ledger and the event log to a planned round: gather, credit, plan."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from afterwit.credit.items import Design, Items
from afterwit.credit.responsibility.grants import Grants, grants, outcomes_of, scorers
from afterwit.credit.responsibility.replay import responsibilities
from afterwit.credit.semantic.assess import assess
from afterwit.credit.semantic.change import current
from afterwit.credit.semantic.evidence import EvidenceTable
from afterwit.credit.temporal.deliveries import DeliveryTable
from afterwit.credit.temporal.lifecycle import Lifecycles, lifecycles
from afterwit.decisions.extraction import Extractor
from afterwit.decisions.mining import description_of, is_mined
from afterwit.errors import LeakageError
from afterwit.evolve.round import plan_round
from afterwit.evolve.rules import EvolveRules
from afterwit.evolve.seen import cards_seen
from afterwit.model import Bank, Batch, Credit, Episode, Refusal, Round
from afterwit.ports import Capacity, EventLog, Generator, Store

_IDLE = timedelta(days=180)


@dataclass(frozen=True, kw_only=True, eq=False)
class Learned:
    """What was known at a moment: ready items, the decisions that they show, the evidence, and what was not ripe.

    lifecycles: of the deliveries behind the items, where they came from a log.
    """

    items: Items
    design: Design
    evidence: EvidenceTable
    lifecycles: Lifecycles | None = None
    refused: tuple[Refusal, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Learner:
    """extractor: of decisions from text. generator: frozen, for the replay of responsibility credit; None where
    nothing was recalled. objective: what cards are for. capacity: of the bank."""

    extractor: Extractor
    generator: Generator | None = None
    objective: str = "click"
    capacity: Capacity = field(default_factory=Capacity)
    hand_share: float = EvolveRules.hand_share

    def study(self, events: Any, deliveries: DeliveryTable, as_of: datetime) -> Learned:
        """Temporal and semantic credit from what was available at ``as_of``."""
        found = lifecycles(events, deliveries, as_of)
        learned = self.learn(found.items(), as_of)
        return replace(learned, lifecycles=found, refused=(*found.refused, *learned.refused))

    def learn(self, items: Items, as_of: datetime) -> Learned:
        """Semantic credit from items that are ripe."""
        refused = []
        if self.objective not in items.engagements:
            items = replace(items, engagements={**items.engagements, self.objective: np.zeros(len(items))})
            refused.append(_insufficient(f"objective {self.objective}", "no event of that kind is known"))
        names, matrix = self.extractor.design(items.texts, items.strata, items.declared)
        if not names:
            rules = self.extractor.rules
            least = (
                f"no named decision varies inside {rules.named} tests or contexts, no mined one inside {rules.support}"
            )
            refused.append(_insufficient(f"{len(items)} ripe items", least))
        found = current(items, Design(names=names, matrix=matrix), self.objective)
        refused += _changed(found.since)
        evidence = assess(items, found.design, objective=self.objective, as_of=as_of, found=found)
        return Learned(items=items, design=found.design, evidence=evidence, refused=tuple(refused))

    def round(
        self,
        bank: Bank,
        learned: Learned,
        *,
        history: Sequence[Batch],
        as_of: datetime,
        final: bool,
        credits: Grants = Grants(),
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
            rules=EvolveRules(capacity=self.capacity, hand_share=self.hand_share),
            round_id=round_id,
        )
        return replace(planned, refused=(*learned.refused, *planned.refused))

    def plan(
        self, store: Store, log: EventLog, *, scope: str, bank: str, as_of: datetime, final: bool = False
    ) -> Round:
        """A round on the bank as it stands; nothing is written. Raises LeakageError for a bank that knows more than
        was known at ``as_of``."""
        now = store.bank(scope, bank)
        every = tuple(reversed(store.rounds(scope, bank=bank)))
        earlier = [r for r in every if r.status == "applied"]
        _refuse_later(now, earlier, as_of)
        self.extractor.follow(card.stance.decision for card in now.cards if card.stance)
        learned = self.study(log.table(scope), DeliveryTable.of(store.deliveries(scope, until=as_of)), as_of)
        episodes = tuple(e for e in store.episodes(scope, until=as_of) if e.ended_at is None or e.ended_at <= as_of)
        return self.round(
            now,
            learned,
            # A look is a look: a round that was proposed and rejected has spent its level all the same.
            history=[r.batch for r in every if r.batch is not None],
            as_of=as_of,
            final=final,
            credits=self._credits(store, bank, earlier, episodes, learned),
            idle=_idle(now, episodes, as_of),
        )

    def describe(self, decision: str) -> str:
        """What a decision is called in a card."""
        named = self.extractor.vocabulary.describe(decision) if self.extractor.vocabulary else None
        return named or description_of(decision)

    def _credits(
        self, store: Store, bank: str, earlier: Sequence[Round], episodes: Sequence[Episode], learned: Learned
    ) -> Grants:
        """Responsibility in the episodes whose outcome is ripe; taken back where late events changed it."""
        generator, found = self.generator, learned.lifecycles
        if generator is None or found is None:
            return Grants()
        acting = {e.id: e for e in episodes if e.decisions and any(r.bank == bank for r in e.recalled)}

        def grant(wanted: Sequence[str]) -> Iterable[Credit]:
            seen = cards_seen(store, [acting[id_] for id_ in wanted], bank=bank)
            return responsibilities(
                ((acting[id_], seen[id_]) for id_ in wanted if seen[id_]),
                generator,
                scorer_of=scorers(found, self.objective),
                shown=self.extractor.shown,
            )

        entries = [credit for round_ in earlier for credit in round_.credits]
        return grants(entries, outcomes_of(acting.values(), found), grant)


def _refuse_later(bank: Bank, earlier: Sequence[Round], as_of: datetime) -> None:
    """What a later round made of the evidence may not enter a round as of before it (law 3); what a rollback put
    back was known then."""
    made = {round_.id: round_.as_of for round_ in earlier}
    for card in bank.cards:
        origin = card.provenance
        learned = origin.operator not in ("add", "update", "restore")
        if learned and made.get(origin.round_id or "", as_of) > as_of:
            raise LeakageError(
                f"card {card.id} of bank {bank.name!r} holds what was learned after {as_of.isoformat()}: "
                "roll back to that time first, or learn as of a later one"
            )


def _changed(since: Mapping[str, np.datetime64]) -> list[Refusal]:
    """One line a moment: what goes together changes together. Named decisions come first."""
    at: dict[np.datetime64, list[str]] = {}
    for name in sorted(since, key=lambda name: (is_mined(name), name)):
        at.setdefault(since[name], []).append(name)
    return [
        Refusal(
            subject=names[0],
            verdict="changed",
            reason=f"its effect is another one since {np.datetime_as_string(moment, 'D')}: older evidence is left out"
            + (f" (and of {len(names) - 1} more decisions)" if len(names) > 1 else ""),
        )
        for moment, names in sorted(at.items())
    ]


def _insufficient(subject: str, reason: str) -> Refusal:
    return Refusal(subject=subject, verdict="insufficient", reason=reason)


def _idle(bank: Bank, episodes: Sequence[Episode], as_of: datetime) -> frozenset[str]:
    """Cards older than 180 days that none of the episodes since then recalled; none where nothing was served."""
    recent = [episode for episode in episodes if episode.started_at > as_of - _IDLE]
    if not recent:
        return frozenset()
    recalled = {trace.card_id for episode in recent for trace in episode.recalled}
    return frozenset(c.id for c in bank.cards if c.created_at <= as_of - _IDLE and c.id not in recalled)
