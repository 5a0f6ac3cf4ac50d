"""From runs to figures: success with intervals, gains over the baselines, memories kept, their quality."""

from collections.abc import Mapping, Sequence

import numpy as np

from afterwit.evaluate.chime.policies import StagePolicy
from afterwit.evaluate.chime.protocol import Run, by_value
from afterwit.evaluate.chime.world import World
from afterwit.evaluate.metrics.bootstrap import Ratio, Resamples
from afterwit.model import Interval
from afterwit.ports import Embedder


def scored(
    runs: Mapping[str, Sequence[Run]],
    policies: Sequence[StagePolicy],
    world: World,
    embedder: Embedder,
    *,
    seed: int,
) -> dict[str, dict[str, Interval]]:
    """Policy → metric → figure. All policies served the same tasks in the same orders, so differences are paired; the
    bootstrap resamples tasks, whose orders stay together. ``gain@X`` is success less that of policy X; ``rescued`` the
    share that succeeds of what fails without memory, ``harmed`` the share that fails of what succeeds without."""
    some = next(iter(runs.values()))
    tasks = [f"{run.domain}/{one.task}" for run in some for one in run.judged]
    domains = np.array([run.domain for run in some for _ in run.judged])
    _, codes = np.unique(tasks, return_inverse=True)
    resamples = Resamples.of(codes.astype(np.int64), seed=seed)
    success = {
        name: np.array([one.success for run in of for one in run.judged], dtype=np.float64) for name, of in runs.items()
    }
    whole = np.ones(len(tasks))
    figures: dict[str, dict[str, Interval]] = {}
    for policy in policies:
        of, won = runs[policy.name], success[policy.name]
        found = {"success": resamples.interval(Ratio(top=won, bottom=whole))}
        for run in of:
            here = (domains == run.domain).astype(np.float64)
            found[f"success@{run.domain}"] = resamples.interval(Ratio(top=won * here, bottom=here))
        for other in policies:
            if other.name != policy.name and (policy.kind == "chime" or other.name == "none"):
                gain = Ratio(top=won - success[other.name], bottom=whole)
                found[f"gain@{other.name}"] = resamples.interval(gain)
        if "none" in success and policy.name != "none":
            lost, had = 1 - success["none"], success["none"]
            found["rescued"] = resamples.interval(Ratio(top=won * lost, bottom=lost))
            found["harmed"] = resamples.interval(Ratio(top=(1 - won) * had, bottom=had))
        kept = [count for run in of for count in run.kept]
        found["memories"] = Interval(value=float(np.mean(kept)), n=len(kept))
        found["refused"] = Interval(value=float(sum(run.refused for run in of)))
        for share, (cards, won_then) in _pooled(of).items():
            found[f"memories@{share:.0%}"] = Interval(value=cards)
            found[f"success@{share:.0%}"] = Interval(value=won_then)
        for bucket, (count, rate) in by_value(of).items():
            found[f"success@value {bucket}"] = Interval(value=rate, n=count)
        found.update(quality(of, world, embedder))
        figures[policy.name] = found
    return figures


def quality(runs: Sequence[Run], world: World, embedder: Embedder) -> dict[str, Interval]:
    """correct: share of the memories that are right in this world. distinct: share without another memory of the same
    bank whose key lies within cosine 0.88. general: mean source cases a memory."""
    cards = [card for run in runs for card in run.banks]
    if not cards:
        return {}
    told = [right for card in cards if (right := world.true(card)) is not None]
    alone = []
    for run in runs:
        for bank in sorted({card.bank for card in run.banks}):
            keys = embedder([card.key for card in run.banks if card.bank == bank])
            near = keys @ keys.T >= 0.88
            alone += (near.sum(axis=1) == 1).tolist()
    found = {
        "distinct": Interval(value=float(np.mean(alone)), n=len(alone)),
        "general": Interval(value=float(np.mean([len(card.cases) for card in cards])), n=len(cards)),
    }
    return found | ({"correct": Interval(value=float(np.mean(told)), n=len(told))} if told else {})


def _pooled(runs: Sequence[Run]) -> dict[float, tuple[float, float]]:
    """Share of the stream → (memories, success), the mean over domains of one size."""
    shares = sorted({share for run in runs for share in run.points})
    return {
        share: (
            float(np.mean([run.points[share][0] for run in runs])),
            float(np.mean([run.points[share][1] for run in runs])),
        )
        for share in shares
    }
