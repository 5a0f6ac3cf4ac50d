"""Semantic evidence of a round as columns, one row a decision."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from afterwit.credit.items import Bools, Floats, Ints, Objects
from afterwit.credit.semantic.conditions import Split
from afterwit.credit.semantic.contrast import Cells
from afterwit.model import Evidence, content_hash


@dataclass(frozen=True, kw_only=True, eq=False)
class EvidenceTable:
    """Everything examined in a round for one objective, shape (D,) each; fields as in `Evidence`.

    verdict: of the decision itself, so ``supported`` whenever the interval excludes 0; `verdict_for` turns it to a
    card's stance. enough: strata and controls suffice to say anything. counterexample: some context level
    contradicts the pooled sign. prior_mean, prior_sd: of the empirical-Bayes prior fitted to every decision
    examined. splits: decision → where its effect differs. since: decision → when its effect became another one, and
    the evidence here begins. cells: the contrasts behind it, where they are kept.
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
    enough: Bools
    counterexample: Bools
    prior_mean: float
    prior_sd: float
    splits: dict[str, Split] = field(default_factory=dict)
    since: Mapping[str, np.datetime64] = field(default_factory=dict)
    cells: Cells | None = None

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
            reason=self.reason(i),
            split=split.clause if (split := self.splits.get(name)) else None,
            as_of=self.as_of,
        )

    def reason(self, i: int) -> str:
        """Why row i has its verdict, in one line; made when asked, as thousands of rows never are."""
        counts = f"{self.strata[i]} strata, {self.controls[i]} control items"
        figures = f"effect {self.effect[i]:+.3f} [{self.low[i]:+.3f}, {self.high[i]:+.3f}] over {counts}"
        split = self.splits.get(self.names[i])
        if not np.isfinite(self.effect[i]):
            return f"too few controls: {counts}"
        if self.verdict[i] == "conditional" and split:
            return (
                f"effect {split.holds.effect:+.3f} where {split.clause}, {split.fails.effect:+.3f} elsewhere "
                f"(p = {split.p_value:.3g})"
            )
        if self.verdict[i] != "insufficient":
            return figures
        if self.enough[i] and self.counterexample[i]:
            return f"a context contradicts it: {figures}"
        return f"{'interval too wide' if self.enough[i] else 'too few strata or controls'}: {figures}"

    def __len__(self) -> int:
        return len(self.names)

    @property
    def order(self) -> Ints:
        """Rows by |posterior mean|, largest first, ties by name."""
        return np.lexsort((np.array(self.names), -np.abs(self.posterior_mean))).astype(np.int64)
