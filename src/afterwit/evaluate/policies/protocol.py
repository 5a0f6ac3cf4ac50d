"""What every policy is given and must answer."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

import numpy as np
from scipy import sparse

from afterwit.credit.items import Design, Ints, Items, showing
from afterwit.credit.semantic.evidence import EvidenceTable
from afterwit.evolve.operators.admit import admitted
from afterwit.evolve.rules import EvolveRules
from afterwit.evolve.wording import Describe, guidance_for
from afterwit.model import Card, Condition


@dataclass(frozen=True, kw_only=True, eq=False)
class Known:
    """What an update may learn from: all of it was available at ``as_of``. final: the round before a freeze."""

    as_of: datetime
    items: Items
    design: Design
    evidence: EvidenceTable
    final: bool = False


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What all policies share. rules: B and admission. seed: of whatever a policy draws. describe: what a decision is
    called."""

    scope: str
    bank: str = "content"
    seed: int = 13
    rules: EvolveRules = field(default_factory=EvolveRules)
    describe: Describe = lambda _: None


class Policy(Protocol):
    """bounded: whether B binds it."""

    name: str
    bounded: bool

    def start(self, cards: tuple[Card, ...], known: Known) -> None:
        """Takes the initial memory, the same for all."""

    def update(self, known: Known) -> None:
        """Learns from what is known now."""

    def cards(self) -> tuple[Card, ...]: ...


def passing(known: Known, rules: EvolveRules) -> Ints:
    """Rows of the evidence that pass admission, the surest first, ties by name."""
    table = known.evidence
    rows = np.flatnonzero((table.p_sign >= rules.admission) & table.enough).astype(np.int64)
    names = np.array([table.names[i] for i in rows], dtype=str)
    return rows[np.lexsort((names, -table.p_sign[rows]))]


def card_of(known: Known, row: int, effect: float, setting: Setting, shown: sparse.csc_array) -> Card:
    """A provisional card for the decision of an evidence row, with this effect. shown: the design by columns."""
    evidence = known.evidence.row(row)
    where = showing(shown, row)
    prefer = effect > 0
    card = admitted(
        evidence,
        scope=setting.scope,
        bank=setting.bank,
        key=setting.describe(evidence.decision) or evidence.decision,
        guidance=guidance_for(evidence.decision, prefer, setting.describe),
        when=Condition(),
        prefer=prefer,
        cases=tuple(str(item) for item in known.items.ids[np.sort(where)[-setting.rules.cases :]]),
        round_id=f"{setting.scope}@{known.as_of.isoformat()}",
        at=known.as_of,
    )
    return replace(card, effect=effect)
