"""What the evidence of a round says of one card: its posterior where it applies, and what it is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from afterwit.credit.assess import verdict_for
from afterwit.credit.contrast import Cells
from afterwit.credit.evidence import EvidenceTable
from afterwit.credit.fitness import Prior, posterior
from afterwit.credit.items import Items
from afterwit.credit.later import holding
from afterwit.credit.meta import random_effects
from afterwit.model import Card, Evidence, Posterior, Verdict


@dataclass(frozen=True, kw_only=True)
class Standing:
    """row: evidence on the card's decision. fitness: posterior of the effect where the card applies. verdict: on
    the card's stance. p_sign: P(effect has the sign that the posterior mean has)."""

    row: Evidence
    fitness: Posterior
    verdict: Verdict
    p_sign: float

    @property
    def sign(self) -> int:
        return 1 if self.fitness.mean >= 0 else -1


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
        fitness = Posterior(mean=row.posterior_mean, sd=row.posterior_sd, strata=row.strata)
        p_sign, verdict = row.p_sign, row.verdict
        if card.when.clauses:
            fitness, p_sign, verdict = _where_it_applies(card, i, table, items, cells)
        effect = row.effect if not card.when.clauses else fitness.mean
        found[card.id] = Standing(
            row=row, fitness=fitness, p_sign=p_sign, verdict=verdict_for(card.stance.sign, verdict, effect)
        )
    return found


def _where_it_applies(
    card: Card, column: int, table: EvidenceTable, items: Items, cells: Cells
) -> tuple[Posterior, float, Verdict]:
    inside = holding(items, cells, card.when)
    rows = np.flatnonzero(inside.decision == column)
    one = inside.take(rows)
    means = random_effects(one.effect, one.variance, np.zeros(len(rows), dtype=np.int64), 1)
    post = posterior(means.effect, means.normal_se, Prior(mean=table.prior_mean, sd=table.prior_sd))
    strata = int(means.strata[0])
    fitness = Posterior(mean=float(post.mean[0]), sd=float(post.sd[0]), strata=strata)
    excludes = strata >= 3 and bool(means.low[0] > 0 or means.high[0] < 0)
    return fitness, float(post.p_sign[0]), "supported" if excludes else "insufficient"
