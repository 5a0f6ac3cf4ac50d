"""Early verdicts against the one at the end of the experiment, at declared times and by rules that stop when sure.

    decided        of the comparisons that could have been judged by then, those with a verdict other than none
    reversed       of the decided, those whose verdict at the end is the opposite one
    not_upheld     of the decided, those whose verdict at the end is not the same: reversed, or none
    decided_right  of the comparisons that could have been judged, those decided as the end decides them
    found          of the comparisons with a verdict at the end, those decided the same way early
    elapsed        of the decided, the mean share of the experiment's length that had passed

The end is the last checkpoint with its own 95 % interval: it holds the early data too and is no ground truth.
"""

import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import numpy as np

from afterwit.benchmarks.asos.data import Course, load
from afterwit.benchmarks.asos.rules import STRICT, Gate, always_valid, at, first, fixed
from afterwit.credit.items import Floats
from afterwit.evaluate.metrics.bootstrap import Ratio, Resamples
from afterwit.evaluate.metrics.share import share
from afterwit.evaluate.record import EvaluationRecord, sha256_of
from afterwit.model import Interval
from afterwit.ports import Progress

DAYS = (1.0, 3.0, 7.0, 14.0)
SHARES = (0.1, 0.25, 0.5, 0.75)
STOPPING = ("peeking", "always_valid", "gated", "gated_strict", "gated_always_valid")
NOTES = (
    "the gate: 7 full days, checkpoints without a gap above 24 h, 100 users an arm at the first, and an estimate that "
    "moved by at most its standard error over the last fifth of the time; declared before looking with one clause "
    "more, a first checkpoint within 24 h (gated_strict), which was dropped when it had let few comparisons through",
    "snapshot, always_valid and gated with a time judge at that time only; without one they stop at the first "
    "checkpoint before the last at which they are sure (peeking: the plain interval does so)",
    "the end is the last checkpoint by its own 95 % interval, which holds the early data: not upheld is not the same "
    "as wrong, and each user's metric goes on growing, so the sequence covers at best the mean so far",
)


def run(path: Path, *, seed: int = 13, progress: Progress | None = None) -> EvaluationRecord:
    """path: the Parquet file. Intervals: bootstrap by experiment. Raises InputError, MissingExtra."""
    began = time.perf_counter()
    data, gate = load(path), Gate()
    judged: dict[str, list[Floats]] = {}
    for done, course in enumerate(data.courses, 1):
        for policy, row in _judge(course, gate).items():
            judged.setdefault(policy, []).append(row)
        if progress is not None:
            progress(done, len(data.courses))
    experiments = {name: i for i, name in enumerate(sorted({course.experiment for course in data.courses}))}
    codes = np.array([experiments[course.experiment] for course in data.courses], dtype=np.int64)
    resamples = Resamples.of(codes, seed=seed)
    parts = {policy: _parts(np.array(rows)) for policy, rows in judged.items()}
    figures = {
        policy: {metric: _told(resamples, ratio) for metric, ratio in metrics.items()}
        for policy, metrics in parts.items()
    }
    for policy in STOPPING[1:] if parts else ():
        for metric in ("reversed", "not_upheld", "decided_right", "found"):
            found = resamples.difference(parts[policy][metric], parts["peeking"][metric])
            figures[policy][f"{metric}@peeking"] = found
    ends = np.array([fixed(course)[-1] for course in data.courses])
    return EvaluationRecord(
        benchmark="asos",
        version=version("afterwit"),
        seed=seed,
        seconds=time.perf_counter() - began,
        data={"experiments": sha256_of(path)},
        policies=figures,
        counts={
            "checkpoints": data.checkpoints,
            "checkpoints_without_figure": data.missing,
            "experiments": len(experiments),
            "comparisons": len(data.courses) + data.open_ended,
            "comparisons_without_end": data.open_ended,
            "end_positive": int((ends > 0).sum()),
            "end_negative": int((ends < 0).sum()),
            "end_none": int((ends == 0).sum()),
            "comparisons_ever_mature": sum(bool(gate.passes(course)[:-1].any()) for course in data.courses),
            "comparisons_ever_mature_strict": sum(bool(STRICT.passes(course)[:-1].any()) for course in data.courses),
        },
        leads=("decided", "not_upheld", "reversed"),
        notes=NOTES,
    )


def _judge(course: Course, gate: Gate) -> dict[str, Floats]:
    """policy → (could judge, early verdict, verdict at the end, share of the length that had passed)."""
    plain, sequence, mature = fixed(course), always_valid(course), gate.passes(course)
    verdicts = {"snapshot": plain, "always_valid": sequence, "gated": np.where(mature, plain, 0)}
    end = float(plain[-1])
    rows: dict[str, Floats] = {}
    moments = {f"{day:g}d": day for day in DAYS} | {f"{round(100 * s)}%": s * course.length for s in SHARES}
    for name, day in moments.items():
        k = at(course, day)
        for rule, found in verdicts.items():
            seen = k is not None and np.isfinite(course.se[k])
            rows[f"{rule}:{name}"] = np.array(
                (1.0, found[k], end, course.days[k] / course.length) if seen and k is not None else (0.0, 0.0, end, 0.0)
            )
    stops = {
        "peeking": plain,
        "always_valid": sequence,
        "gated": verdicts["gated"],
        "gated_strict": np.where(STRICT.passes(course), plain, 0),
        "gated_always_valid": np.where(mature, sequence, 0),
    }
    for rule, found in stops.items():
        k = first(found)
        early = (0.0, 0.0) if k is None else (float(found[k]), course.days[k] / course.length)
        rows[rule] = np.array((1.0, early[0], end, early[1]))
    return rows


def _parts(rows: Floats) -> Mapping[str, Ratio]:
    able, early, end, passed = rows.T
    decided = able * (early != 0)
    return {
        "decided": Ratio(top=decided, bottom=able),
        "reversed": Ratio(top=decided * (early == -end), bottom=decided),
        "not_upheld": Ratio(top=decided * (early != end), bottom=decided),
        "decided_right": Ratio(top=decided * (early == end), bottom=able),
        "found": Ratio(top=decided * (early == end), bottom=able * (end != 0)),
        "elapsed": Ratio(top=decided * passed, bottom=decided),
    }


def _told(resamples: Resamples, ratio: Ratio) -> Interval:
    """The bootstrap by experiment; where none or all count, which no resample can leave, Wilson's interval with as
    many units as there are experiments behind the figure."""
    found = resamples.interval(ratio)
    if found.n and ratio.value in (0.0, 1.0):
        behind = int((resamples.sums(ratio.bottom) > 0).sum())
        wilson = share(behind if ratio.value else 0, behind)
        return Interval(value=found.value, low=wilson.low, high=wilson.high, n=found.n)
    return found
