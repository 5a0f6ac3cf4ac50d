"""From the ledger and the event log to a planned round: gather, credit, plan."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from afterwit.credit.assess import assess
from afterwit.credit.evidence import EvidenceTable
from afterwit.credit.items import Design, Items
from afterwit.credit.lifecycle import Lifecycles, lifecycles
from afterwit.credit.replay import responsibility
from afterwit.decisions.extraction import Extractor
from afterwit.evolve.round import plan_round
from afterwit.evolve.rules import EvolveRules
from afterwit.model import Card, Credit, Episode, Round
from afterwit.ports import Capacity, EventLog, Generator, Store


@dataclass(frozen=True, kw_only=True, eq=False)
class Learned:
    """What was known at a moment: ready items, the decisions that they show, and the evidence for each."""

    lifecycles: Lifecycles
    items: Items
    design: Design
    evidence: EvidenceTable


@dataclass(frozen=True, kw_only=True, eq=False)
class Learner:
    """extractor: of decisions from text. generator: frozen, for the replay of responsibility credit.
    objective: what cards are for. capacity: of the bank."""

    extractor: Extractor
    generator: Generator
    objective: str = "click"
    capacity: Capacity = field(default_factory=Capacity)

    @property
    def rules(self) -> EvolveRules:
        return EvolveRules(capacity=self.capacity)

    def study(self, store: Store, log: EventLog, *, scope: str, as_of: datetime) -> Learned:
        """Temporal and semantic credit from what was available at ``as_of``."""
        found = lifecycles(log.table(scope), store.deliveries(scope, until=as_of), as_of)
        items = found.items()
        names, matrix = self.extractor.design(items.texts, items.strata, items.declared)
        design = Design(names=names, matrix=matrix)
        evidence = assess(items, design, objective=self.objective, as_of=as_of)
        return Learned(lifecycles=found, items=items, design=design, evidence=evidence)

    def plan(
        self, store: Store, log: EventLog, *, scope: str, bank: str, as_of: datetime, final: bool = False
    ) -> Round:
        """A round on the bank as it stands; nothing is written."""
        learned = self.study(store, log, scope=scope, as_of=as_of)
        earlier = [r for r in reversed(store.rounds(scope, bank=bank)) if r.status == "applied"]
        round_ = plan_round(
            store.bank(scope, bank),
            learned.evidence,
            items=learned.items,
            design=learned.design,
            history=[r.batch for r in earlier if r.batch is not None],
            credits=tuple(self._credits(store, scope, bank, earlier, as_of)),
            as_of=as_of,
            final=final,
            rules=self.rules,
        )
        return replace(round_, refused=(*learned.lifecycles.refused, *round_.refused))

    def _credits(
        self, store: Store, scope: str, bank: str, earlier: list[Round], as_of: datetime
    ) -> Iterator[Credit]:
        """Responsibility of every closed episode that no earlier round has credited."""
        done = {credit.episode_id for round_ in earlier for credit in round_.credits}
        for episode in store.episodes(scope, until=as_of):
            if episode.id not in done and episode.recalled and (episode.decisions or episode.citations):
                cards = _as_recalled(store, episode, bank)
                if cards:
                    yield from responsibility(episode, cards, self.generator)


def _as_recalled(store: Store, episode: Episode, bank: str) -> tuple[Card, ...]:
    """The very versions that the episode saw."""
    wanted = {(r.card_id, r.version) for r in episode.recalled if r.bank == bank and not r.withheld}
    found = {}
    for card_id in {card_id for card_id, _ in wanted}:
        for edit in store.edits(episode.scope, bank=bank, card_id=card_id):
            found.update({(c.id, c.version): c for c in edit.writes if (c.id, c.version) in wanted})
    return tuple(found[key] for key in sorted(found))
