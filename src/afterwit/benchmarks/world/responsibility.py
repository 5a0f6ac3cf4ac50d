"""Figures of controlled requests: where credit landed, whether the edits were right, what they were worth later."""

from collections.abc import Mapping, Sequence

import numpy as np

from afterwit.benchmarks.world.noise import NOISE
from afterwit.benchmarks.world.requests import Outcome
from afterwit.credit.items import Ints
from afterwit.evaluate.metrics.bootstrap import Ratio, Resamples
from afterwit.evaluate.metrics.share import share
from afterwit.model import Interval

TESTED = "tide"


def figured(outcomes: Mapping[str, Sequence[Outcome]], worlds: Ints, *, seed: int) -> dict[str, dict[str, Interval]]:
    """outcomes: way of crediting → one a request, in the same order. worlds: of each request, (q,).

    Intervals by request inside worlds, survival by Wilson; ``METRIC@tide`` is the paired difference from tide.
    """
    resamples = Resamples.nested(worlds, seed=seed)
    ratios = {name: _ratios(found) for name, found in outcomes.items()}
    figures: dict[str, dict[str, Interval]] = {}
    for name, found in outcomes.items():
        figures[name] = {metric: resamples.interval(ratio) for metric, ratio in ratios[name].items()}
        figures[name]["bad_memory_survival"] = share(sum(one.survived for one in found), len(found))
        for kind in NOISE:
            own = [one.survived for one in found if one.kind == kind]
            figures[name][f"bad_memory_survival:{kind}"] = share(sum(own), len(own))
        if name != TESTED and TESTED in outcomes:
            for metric, ratio in ratios[name].items():
                figures[name][f"{metric}@{TESTED}"] = resamples.difference(ratio, ratios[TESTED][metric])
    return figures


def _ratios(found: Sequence[Outcome]) -> dict[str, Ratio]:
    def column(name: str) -> np.ndarray:
        return np.array([getattr(one, name) for one in found], dtype=np.float64)

    hits, false, missed = column("hits"), column("false"), column("missed")
    gain = np.array([np.mean(one.gain) for one in found])
    return {
        "responsibility_f1": Ratio(top=2 * hits, bottom=2 * hits + false + missed),
        "responsibility_precision": Ratio(top=hits, bottom=hits + false),
        "responsibility_recall": Ratio(top=hits, bottom=hits + missed),
        "correct_edit": Ratio(top=column("right"), bottom=column("cards")),
        "future_meg": Ratio(top=gain, bottom=np.ones(len(found))),
    }
