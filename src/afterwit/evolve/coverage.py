"""Which cards to keep: those that together say most of what the whole joint model says.

The joint model (`credit/joint`) predicts every item from every decision examined, shrunk. A bank may hold only B
cards, so its prediction is distilled onto B of them: orthogonal matching pursuit (Pati, Rezaiifar and Krishnaprasad
1993) picks the card that explains most of what is still unexplained, within strata and weighted by information, and
refits. The first pick is the strongest claim; later ones count for what they add: marginal coverage. The target
is shrunken, so a lucky small-sample effect brings little; that does the work of a lower bound (our
reconstruction; docs/adr/0004).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

from afterwit.credit.evidence import EvidenceTable
from afterwit.credit.items import Bools, Design, Floats, Items
from afterwit.credit.joint import stratum_centred
from afterwit.model import Card, Condition

_JITTER = 1e-6


@dataclass(frozen=True, kw_only=True)
class Selection:
    """kept: card ids, in the order picked. effects: card id → joint effect among the cards kept, log rate ratio."""

    kept: tuple[str, ...]
    effects: Mapping[str, float]


def select(
    cards: Sequence[Card],
    protected: frozenset[str],
    table: EvidenceTable,
    items: Items,
    design: Design,
    *,
    room: int,
) -> Selection:
    """Picks at most ``room`` cards, protected ones first; each card's decision is one of the design.

    An effect never gets the sign against its card's stance: it is 0 instead.
    """
    cards = sorted(cards, key=lambda card: card.content_hash)
    if not cards or room < 1:
        return Selection(kept=(), effects={})
    whole = stratum_centred(items, design, objective=table.objective)
    own = stratum_centred(items, _card_design(cards, items, design), objective=table.objective, given=whole.rates)
    target = own.backward(whole.forward(table.joint))
    signs = np.array([card.stance.sign if card.stance else 0 for card in cards], dtype=np.float64)
    first = [i for i, card in enumerate(cards) if card.id in protected]
    picked, effects = pursue(own.gram(), target, signs, first, room)
    return Selection(kept=tuple(cards[i].id for i in picked), effects={cards[i].id: float(effects[i]) for i in picked})


def pursue(gram: Floats, target: Floats, signs: Floats, first: Sequence[int], room: int) -> tuple[list[int], Floats]:
    """Orthogonal matching pursuit with signs. gram: (k, k); target: X̃'Af, (k,); signs: ±1, (k,).

    Returns the columns picked, in order, and effects (k,), 0 for the others.
    """
    size = np.diag(gram).copy()
    open_: Bools = size > 1e-9
    floor = np.maximum(size, 1e-9)
    picked: list[int] = []
    effects = np.zeros(len(target))
    waiting = list(first)
    while len(picked) < room:
        missing = target - gram @ effects
        gain = np.where(open_ & (missing * signs > 0), missing**2 / floor, 0.0)
        best = waiting.pop(0) if waiting else int(np.argmax(gain))
        if best not in first and gain[best] <= 1e-12:
            break
        picked.append(best)
        open_[best] = False
        chosen = np.array(picked)
        block = gram[np.ix_(chosen, chosen)] + np.diag(_JITTER * np.maximum(size[chosen], 1))
        effects = np.zeros(len(target))
        effects[chosen] = linalg.solve(block, target[chosen], assume_a="pos")
    return picked, np.where(effects * signs > 0, effects, 0.0)


def _card_design(cards: Sequence[Card], items: Items, design: Design) -> Design:
    """One column a card: its decision, where its condition holds."""
    place = {name: i for i, name in enumerate(design.names)}
    columns = [place[card.stance.decision] for card in cards if card.stance]
    matrix = design.matrix[:, columns]
    if any(card.when.clauses for card in cards):
        holds = {when: _holds(when, items) for when in {card.when for card in cards}}
        mask = sparse.csr_array(np.column_stack([holds[card.when] for card in cards]).astype(np.float64))
        matrix = sparse.csr_array(matrix.multiply(mask))
    return Design(names=tuple(card.id for card in cards), matrix=matrix)


def _holds(when: Condition, items: Items) -> Bools:
    fields = {name: column for name, column in items.contexts.items() if name in when.fields}
    contexts = (
        [{name: column[i] for name, column in fields.items() if column[i] is not None} for i in range(len(items))]
        if when.clauses
        else []
    )
    return np.array([when.holds(c) for c in contexts]) if when.clauses else np.ones(len(items), dtype=np.bool_)
