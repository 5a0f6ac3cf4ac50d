"""All semantic evidence of a round: contrasts, prior, conditions, joint effects and verdicts (design section 6)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from afterwit.credit.items import Bools, Design, Floats, Ints, Items, Objects, moment
from afterwit.credit.semantic.change import Current
from afterwit.credit.semantic.conditions import Dependence, Split, dependence
from afterwit.credit.semantic.contrast import Cells, cells, rates
from afterwit.credit.semantic.evidence import EvidenceTable
from afterwit.credit.semantic.fitness import fit_prior, posterior
from afterwit.credit.semantic.joint import joint_effects
from afterwit.credit.semantic.meta import DELTA, Means, random_effects
from afterwit.model import Verdict

_VERDICTS: tuple[Verdict, ...] = ("insufficient", "conditional", "null", "supported", "contradicted")


@dataclass(frozen=True, kw_only=True)
class AssessRules:
    """delta: half width of the null band, log rate ratio. min_strata, min_controls: below them, insufficient."""

    delta: float = DELTA
    min_strata: int = 3
    min_controls: int = 3


def available(items: Items, design: Design, as_of: datetime) -> tuple[Items, Design]:
    """What was known at ``as_of``: nothing later may be credited (law 3)."""
    known = items.available_at <= moment(as_of)
    if known.all():
        return items, design
    rows = np.flatnonzero(known).astype(np.int64)
    return items.take(rows), Design(names=design.names, matrix=design.matrix[rows])


def assess(
    items: Items,
    design: Design,
    *,
    objective: str,
    as_of: datetime,
    rules: AssessRules = AssessRules(),
    start: Floats | None = None,
    found: Current | None = None,
) -> EvidenceTable:
    """One row a decision of the design. start: joint effects of an earlier round, to begin from. found: the same
    design with what is known of changes, where they were looked for."""
    items, design = available(items, design, as_of)
    n = len(design.names)
    found_rates = rates(items, objective)
    contrasts = cells(items, design, objective, given=found_rates) if found is None else found.contrasts
    means = random_effects(contrasts.effect, contrasts.variance, contrasts.decision, n)
    treated, controls = _items_behind(contrasts, n)
    enough = (means.strata >= rules.min_strata) & (controls >= rules.min_controls)
    effect = np.where(enough, means.effect, np.nan)
    depends = dependence(items, contrasts, means)
    splits = {d: split for d, split in depends.splits.items() if enough[d]}
    prior = fit_prior(*_examined(effect, means.normal_se, splits))
    post = posterior(effect, means.normal_se, prior)
    return EvidenceTable(
        objective=objective,
        as_of=as_of,
        names=design.names,
        effect=means.effect,
        se=means.se,
        low=means.low,
        high=means.high,
        df=means.df,
        strata=means.strata,
        treated=treated,
        controls=controls,
        posterior_mean=post.mean,
        posterior_sd=post.sd,
        p_sign=post.p_sign,
        joint=joint_effects(items, design, objective=objective, start=start, given=found_rates),
        verdict=_verdicts(means, enough, depends, rules),
        enough=enough,
        counterexample=depends.counterexample,
        prior_mean=prior.mean,
        prior_sd=prior.sd,
        splits={design.names[d]: split for d, split in splits.items()},
        since={} if found is None else found.since,
        cells=contrasts,
    )


def verdict_for(sign: int, verdict: Verdict, effect: float) -> Verdict:
    """The verdict on a card whose stance has this sign: the table speaks of the sign of the effect itself."""
    if verdict == "supported":
        return "supported" if sign * effect > 0 else "contradicted"
    return verdict


def _examined(effect: Floats, se: Floats, splits: Mapping[int, Split]) -> tuple[Floats, Floats]:
    """Effects and standard errors that the prior is fitted to: where contexts differ, one for each, as their mean is
    an effect that nothing has."""
    sides = [side for split in splits.values() for _, side, _ in split.leaves() if side.strata >= 2]
    whole = np.setdiff1d(np.arange(len(effect)), list(splits))
    return (
        np.append(effect[whole], [side.effect for side in sides]),
        np.append(se[whole], [side.normal_se for side in sides]),
    )


def _items_behind(contrasts: Cells, n: int) -> tuple[Ints, Ints]:
    treated, controls = (
        np.rint(np.bincount(contrasts.decision, weights=counts, minlength=n)).astype(np.int64)
        for counts in (contrasts.treated, contrasts.controls)
    )
    return treated, controls


def _verdicts(means: Means, enough: Bools, depends: Dependence, rules: AssessRules) -> Objects:
    """Too few strata or controls come first; then a split, which settles its counterexamples; then null and
    supported; an interval too wide to say, or a counterexample unexplained, is what remains."""
    conditional = np.zeros(len(enough), dtype=np.bool_)
    conditional[list(depends.splits)] = True
    null = (means.low > -rules.delta) & (means.high < rules.delta)
    excludes = (means.low > 0) | (means.high < 0)
    code = np.select(
        [~enough, conditional, depends.counterexample, null, excludes],
        [0, 1, 0, 2, 3],
        default=0,
    )
    verdicts: Objects = np.array(_VERDICTS, dtype=np.object_)
    return verdicts.take(code)
