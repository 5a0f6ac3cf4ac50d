"""Semantic evidence of a round as columns, one row a decision."""

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from afterwit.credit.items import Floats, Ints, Objects
from afterwit.model import Clause, Evidence, content_hash


@dataclass(frozen=True, kw_only=True, eq=False)
class EvidenceTable:
    """Everything examined in a round for one objective, shape (D,) each; fields as in `Evidence`.

    prior_mean, prior_sd: of the empirical-Bayes prior fitted to every decision examined.
    """

    objective: str
    as_of: datetime
    names: tuple[str, ...]
    effect: Floats
    se: Floats
    low: Floats
    high: Floats
    df: Ints
    strata: Ints
    treated: Ints
    controls: Ints
    posterior_mean: Floats
    posterior_sd: Floats
    p_sign: Floats
    joint: Floats
    verdict: Objects
    reason: Objects
    prior_mean: float
    prior_sd: float
    splits: dict[str, Clause] = field(default_factory=dict)

    def index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def row(self, i: int) -> Evidence:
        name = self.names[i]
        return Evidence(
            id=content_hash(name, self.objective, self.as_of.isoformat())[:32],
            decision=name,
            objective=self.objective,
            effect=float(self.effect[i]),
            se=float(self.se[i]),
            low=float(self.low[i]),
            high=float(self.high[i]),
            df=int(self.df[i]),
            strata=int(self.strata[i]),
            treated=int(self.treated[i]),
            controls=int(self.controls[i]),
            posterior_mean=float(self.posterior_mean[i]),
            posterior_sd=float(self.posterior_sd[i]),
            p_sign=float(self.p_sign[i]),
            joint=float(self.joint[i]),
            verdict=self.verdict[i],
            reason=str(self.reason[i]),
            split=self.splits.get(name),
            as_of=self.as_of,
        )

    def __len__(self) -> int:
        return len(self.names)

    @property
    def order(self) -> Ints:
        """Rows by |posterior mean|, largest first, ties by name."""
        return np.lexsort((np.array(self.names), -np.abs(self.posterior_mean))).astype(np.int64)
