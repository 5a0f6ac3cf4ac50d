"""Which cards to keep: those that together say most of what the whole joint model says.

The joint model (`credit/joint`) predicts every item from every decision examined, shrunk. A bank may hold only B
cards, so its prediction is distilled onto B of them: orthogonal matching pursuit (Pati, Rezaiifar and Krishnaprasad
1993) picks the card that explains most of what is still unexplained, within strata and weighted by information, and
refits. The first pick is the strongest claim; later ones count for what they add: marginal coverage. Where a card
applies in a context alone, the prediction is moved there to what the evidence of that context says. The target
is shrunken, so a lucky small-sample effect brings little; that does the work of a lower bound (our
reconstruction; docs/adr/0004).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

from afterwit.credit.items import Bools, Design, Floats, Ints, Items
from afterwit.credit.semantic.evidence import EvidenceTable
from afterwit.credit.semantic.joint import stratum_centred
from afterwit.model import Card, Condition
from afterwit.ports import Capacity

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
    claimed: Mapping[str, float],
    capacity: Capacity,
) -> Selection:
    """Picks cards within the capacity, pinned ones first, then protected ones; each card's decision is one of the
    design.

    claimed: card id → joint effect of its decision where the card applies. An effect never gets the sign against
    its card's stance: it is 0 instead.
    """
    cards = sorted(cards, key=lambda card: card.content_hash)
    if not cards:
        return Selection(kept=(), effects={})
    whole = stratum_centred(items, design, objective=table.objective)
    own = stratum_centred(items, _card_design(cards, items, design), objective=table.objective, given=whole.rates)
    place = table.index()
    moved = np.array([claimed[c.id] - table.joint[place[c.stance.decision]] for c in cards if c.stance])
    target = own.backward(whole.forward(table.joint) + own.forward(moved))
    signs = np.array([card.stance.sign if card.stance else 0 for card in cards], dtype=np.float64)
    tokens = np.array([card.tokens for card in cards], dtype=np.int64)
    pinned = [i for i, card in enumerate(cards) if card.pinned]
    first = (pinned, [i for i, card in enumerate(cards) if card.id in protected])
    picked, effects = pursue(own.column, own.gram_diagonal(), target, signs, tokens, first, capacity)
    return Selection(kept=tuple(cards[i].id for i in picked), effects={cards[i].id: float(effects[i]) for i in picked})


def pursue(
    column: Callable[[int], Floats],
    size: Floats,
    target: Floats,
    signs: Floats,
    tokens: Ints,
    first: Sequence[Sequence[int]],
    capacity: Capacity,
) -> tuple[list[int], Floats]:
    """Orthogonal matching pursuit with signs. column: of the Gram matrix X̃'AX̃, (k,), asked for what is picked alone;
    size: its diagonal; target: X̃'Af, (k,); signs: ±1, tokens: of each, (k,).

    Those of ``first``, group by group, are picked before any other, whether they gain or not. Returns the columns
    picked, in order, and effects (k,), 0 for the others.
    """
    open_: Bools = size > 1e-9
    floor = np.maximum(size, 1e-9)
    picked: list[int] = []
    gram: Floats = np.zeros((len(target), 0))
    found: Floats = np.zeros(0)
    left = capacity.tokens
    # Above what the jitter leaves of a column that repeats another, which is 1e-12 of its own gain.
    least = 1e-9 * float((target**2 / floor).max(initial=0.0))
    while len(picked) < capacity.cards:
        missing = target - gram @ found
        gain = np.where(open_ & (tokens <= left) & (missing * signs > 0), missing**2 / floor, 0.0)
        groups = ([i for i in group if i not in picked and tokens[i] <= left] for group in first)
        waiting = next((group for group in groups if group), [])
        best = max(waiting, key=lambda i: float(gain[i])) if waiting else int(np.argmax(gain))
        if not waiting and gain[best] <= least:
            break
        picked.append(best)
        open_[best] = False
        left -= int(tokens[best])
        gram = np.column_stack((gram, column(best)))
        block = gram[picked] + np.diag(_JITTER * np.maximum(size[picked], 1))
        found = linalg.solve(block, target[picked], assume_a="pos")
    effects = np.zeros(len(target))
    effects[picked] = found
    return picked, np.where(effects * signs > 0, effects, 0.0)


def _card_design(cards: Sequence[Card], items: Items, design: Design) -> Design:
    """One column a card: its decision, where its condition holds."""
    place = {name: i for i, name in enumerate(design.names)}
    columns = [place[card.stance.decision] for card in cards if card.stance]
    matrix = design.matrix[:, columns]
    if any(card.when.clauses for card in cards):
        inside = {when: holds(when, items) for when in {card.when for card in cards}}
        mask = sparse.csr_array(np.column_stack([inside[card.when] for card in cards]).astype(np.float64))
        matrix = sparse.csr_array(matrix.multiply(mask))
    return Design(names=tuple(card.id for card in cards), matrix=matrix)


def holds(when: Condition, items: Items) -> Bools:
    """Which items' contexts satisfy the condition, (n,)."""
    fields = {name: column for name, column in items.contexts.items() if name in when.fields}
    contexts = (
        [{name: column[i] for name, column in fields.items() if column[i] is not None} for i in range(len(items))]
        if when.clauses
        else []
    )
    return np.array([when.holds(c) for c in contexts]) if when.clauses else np.ones(len(items), dtype=np.bool_)
