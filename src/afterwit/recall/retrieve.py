"""Recall (design section 4; the rerank is CHIME's)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from afterwit.errors import EmbedderMismatch, UsageError
from afterwit.model import Card, Context, Recalled, content_hash
from afterwit.recall.conflicts import newer_first
from afterwit.recall.index import BankIndex, microseconds

Shown = Callable[[str], frozenset[str]]


@dataclass(frozen=True, kw_only=True)
class RecallRules:
    """pool: N nearest that are reranked. similarity, value: α and β of the score α·sim + β·v̂, such that similarity
    dominates."""

    pool: int = 20
    similarity: float = 1.0
    value: float = 0.2


@dataclass(frozen=True, kw_only=True)
class Exploration:
    """Withholds each card with probability ``rate``, decided by a hash of seed and card id."""

    rate: float
    seed: str

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise UsageError(f"exploration withholds with a probability: {self.rate} is not between 0 and 1")

    def withholds(self, card_id: str) -> bool:
        return int(content_hash(self.seed, card_id)[:13], 16) / 16**13 < self.rate


def recall(
    index: BankIndex,
    query: NDArray[np.float32],
    *,
    context: Context,
    now: datetime,
    k: int = 3,
    candidates: Sequence[str] = (),
    shown: Shown | None = None,
    token_budget: int | None = None,
    exploration: Exploration | None = None,
    rules: RecallRules = RecallRules(),
) -> tuple[tuple[Card, Recalled], ...]:
    """The cards for a task, best first, each with its trace.

    query: unit vector of the task, (dimensions,). Cards that are not live, not valid now or whose condition the
    context does not satisfy are left out before anything is compared. With candidates, every card whose stance
    names a decision of some candidate comes first, largest |effect| first, however many; k limits only what similarity
    then adds. The token budget limits all: it cuts whole cards, from the end. A withheld card keeps its place and
    its tokens, so that exploration changes nothing for the others. Ties break by content hash.
    A card that a newer one contradicts brings that one, and comes behind it. Raises
    EmbedderMismatch for a query of other dimensions than the bank's.
    """
    allowed = _allowed(index, context, now)
    if not allowed.any():
        return ()
    if query.shape != index.keys.shape[1:]:
        raise EmbedderMismatch(
            f"the task has {query.size} dimensions and the bank {index.keys.shape[1]}: re-embed the bank"
        )
    similarities = (index.keys @ query)[index.key_of]
    rows = _matched(index, allowed, candidates, shown) if candidates else []
    newer = {row: [n for n in rows_ if allowed[n]] for row, rows_ in index.newer.items()}
    if len(rows) < k:
        allowed[rows] = False  # those are in already
        rows += _best(index, similarities, allowed, rules)[: k - len(rows)].tolist()
    rows = newer_first(rows, newer)
    found: list[tuple[Card, Recalled]] = []
    spent = 0
    for row, score in zip(rows, _scores(index, similarities, rows, rules).tolist(), strict=True):
        card = index.cards[row]
        if token_budget is not None:
            spent += card.tokens
            if spent > token_budget:
                break
        trace = Recalled(
            card_id=card.id,
            version=card.version,
            bank=card.bank,
            rank=len(found) + 1,
            similarity=float(similarities[row]),
            score=score,
            withheld=exploration is not None and exploration.withholds(card.id),
            propensity=exploration.rate if exploration else 0.0,
        )
        found.append((card, trace))
    return tuple(found)


def _allowed(index: BankIndex, context: Context, now: datetime) -> NDArray[np.bool_]:
    moment = microseconds(now)
    allowed = (index.valid_from <= moment) & (moment < index.valid_until)
    for condition, rows in index.conditions.items():
        if not condition.holds(context):
            allowed[rows] = False
    return allowed


def _matched(index: BankIndex, allowed: NDArray[np.bool_], candidates: Iterable[str], shown: Shown | None) -> list[int]:
    if shown is None:
        return []
    keys = frozenset[str]().union(*(shown(text) for text in candidates))
    rows = {row for key in keys & index.decisions.keys() for row in index.decisions[key] if allowed[row]}
    return sorted(rows, key=lambda row: (-abs(index.cards[row].effect), row))


def _best(
    index: BankIndex, similarities: NDArray[np.float32], free: NDArray[np.bool_], rules: RecallRules
) -> NDArray[np.int64]:
    """The pool nearest by similarity, then by score; rows are in hash order, so stable sorts break ties by hash."""
    rows = np.flatnonzero(free)
    if len(rows) > rules.pool:
        near = similarities[rows]
        inside = near >= np.partition(near, -rules.pool)[-rules.pool]
        rows = rows[inside]
        if len(rows) > rules.pool:  # a tie at the edge
            rows = np.sort(rows[np.argsort(-near[inside], kind="stable")[: rules.pool]])
    return rows[np.argsort(-_scores(index, similarities, rows, rules), kind="stable")]


def _scores(
    index: BankIndex, similarities: NDArray[np.float32], rows: Sequence[int] | NDArray[np.int64], rules: RecallRules
) -> NDArray[np.float64]:
    of = np.asarray(rows, dtype=np.int64)
    return rules.similarity * similarities[of].astype(np.float64) + rules.value * index.values[of]
