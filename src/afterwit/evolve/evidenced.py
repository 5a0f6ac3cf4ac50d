"""What the evidence of a round says of one card: its posterior where it applies, and what it is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from afterwit.credit.items import Items
from afterwit.credit.semantic.assess import verdict_for
from afterwit.credit.semantic.conditions import Side
from afterwit.credit.semantic.contrast import Cells, holding
from afterwit.credit.semantic.evidence import EvidenceTable
from afterwit.credit.semantic.fitness import Prior, posterior
from afterwit.credit.semantic.meta import random_effects
from afterwit.model import Card, Evidence, Posterior, Verdict


@dataclass(frozen=True, kw_only=True)
class Standing:
    """row: evidence on the card's decision where the card applies. fitness: posterior of the effect there. verdict: on
    the card's stance. p_sign: P(effect has the sign that the posterior mean has)."""

    row: Evidence
    fitness: Posterior
    verdict: Verdict
    p_sign: float

    @property
    def sign(self) -> int:
        return 1 if self.fitness.mean >= 0 else -1

    def p_for(self, card: Card) -> float:
        """P(effect has the sign of the card's stance)."""
        return self.p_sign if card.stance and card.stance.sign == self.sign else 1 - self.p_sign


def standings(cards: Sequence[Card], table: EvidenceTable, items: Items, cells: Cells) -> Mapping[str, Standing]:
    """Card id → standing, for the cards whose decision was examined.

    A card with a condition is judged on the strata where it applies alone, under the prior of everything examined.
    """
    place = table.index()
    found = {}
    for card in cards:
        i = None if card.stance is None else place.get(card.stance.decision)
        if i is None or card.stance is None:
            continue
        row = table.row(i)
        if card.when.clauses:
            row = on_side(row, _where_it_applies(card, i, items, cells), str(card.when), table)
        found[card.id] = Standing(
            row=row,
            fitness=Posterior(mean=row.posterior_mean, sd=row.posterior_sd, strata=row.strata),
            p_sign=row.p_sign,
            verdict=verdict_for(card.stance.sign, row.verdict, row.effect),
        )
    return found


def on_side(row: Evidence, side: Side, where: str, table: EvidenceTable) -> Evidence:
    """The row as it reads in a context alone, under the prior of everything examined; its items are not counted again.

    The joint effect moves by as much as the marginal one does.
    """
    se = side.normal_se
    post = posterior(np.array([side.effect]), np.array([se]), Prior(mean=table.prior_mean, sd=table.prior_sd))
    mean = float(post.mean[0])
    excludes = side.strata >= 3 and (side.low > 0 or side.high < 0)
    return replace(
        row,
        effect=side.effect,
        se=float(se),
        low=side.low,
        high=side.high,
        df=max(side.strata - 1, 0),
        strata=side.strata,
        posterior_mean=mean,
        posterior_sd=float(post.sd[0]),
        p_sign=float(post.p_sign[0]),
        joint=row.joint + mean - row.posterior_mean,
        verdict="supported" if excludes else "insufficient",
        split=None,
        reason=f"effect {side.effect:+.3f} [{side.low:+.3f}, {side.high:+.3f}] over {side.strata} strata where {where}",
    )


def _where_it_applies(card: Card, column: int, items: Items, cells: Cells) -> Side:
    inside = holding(items, cells, card.when)
    one = inside.take(np.flatnonzero(inside.decision == column))
    means = random_effects(one.effect, one.variance, np.zeros(len(one), dtype=np.int64), 1)
    return Side(
        effect=float(means.effect[0]),
        low=float(means.low[0]),
        high=float(means.high[0]),
        strata=int(means.strata[0]),
    )
