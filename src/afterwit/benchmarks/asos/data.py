"""Cumulative checkpoints of randomised experiments from a Parquet file (Liu, Cardoso, Couturier & McCoy 2021)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from afterwit.credit.items import Floats
from afterwit.errors import InputError, MissingExtra

_NAMES = ("experiment_id", "variant_id", "metric_id")
_FIGURES = ("time_since_start", "count_c", "count_t", "mean_c", "mean_t", "variance_c", "variance_t")


@dataclass(frozen=True, kw_only=True, eq=False)
class Course:
    """One comparison, a variant with its control on one metric, as it went; shape (k,) by time.

    days: since the experiment began. users: of the smaller arm. effect: mean of the variant less that of the control.
    se: Welch's, √(variance_c / count_c + variance_t / count_t); nan where the file lacks what it needs.
    """

    experiment: str
    variant: str
    metric: str
    days: Floats
    users: Floats
    effect: Floats
    se: Floats

    @property
    def length(self) -> float:
        """Days to the last checkpoint."""
        return float(self.days[-1])


@dataclass(frozen=True, kw_only=True)
class Courses:
    """missing: checkpoints without a usable figure. open_ended: comparisons whose last checkpoint has none, so that
    no early verdict on them can be judged; they are not among ``courses``."""

    courses: tuple[Course, ...]
    checkpoints: int
    missing: int
    open_ended: int


def load(path: Path) -> Courses:
    """Raises InputError where the file is missing, broken or lacks a column, MissingExtra without pyarrow."""
    table = _table(path)
    names = [[str(value) for value in table[column].to_pylist()] for column in _NAMES]
    try:
        figures = np.array(
            [[np.nan if v is None else v for v in table[column].to_pylist()] for column in _FIGURES], dtype=np.float64
        )
    except (TypeError, ValueError) as error:
        raise InputError(f"{path} holds figures of another type: {error}") from None
    if not figures.shape[1]:
        raise InputError(f"{path} holds no rows: give a file with checkpoints in it")
    found = list(_courses(list(zip(*names, strict=True)), figures))
    ended = tuple(course for course in found if np.isfinite(course.se[-1]))
    return Courses(
        courses=ended,
        checkpoints=figures.shape[1],
        missing=int(sum((~np.isfinite(course.se)).sum() for course in found)),
        open_ended=len(found) - len(ended),
    )


def _courses(keys: list[tuple[str, ...]], figures: Floats) -> Iterator[Course]:
    rows: dict[tuple[str, ...], list[int]] = {}
    for i, key in enumerate(keys):
        rows.setdefault(key, []).append(i)
    for (experiment, variant, metric), members in sorted(rows.items()):
        own = figures[:, members]
        days, count_c, count_t, mean_c, mean_t, variance_c, variance_t = own[:, np.argsort(own[0], kind="stable")]
        with np.errstate(divide="ignore", invalid="ignore"):
            se = np.sqrt(variance_c / count_c + variance_t / count_t)
            usable = np.isfinite(se) & (se > 0) & np.isfinite(mean_t - mean_c)
        yield Course(
            experiment=experiment,
            variant=variant,
            metric=metric,
            days=days,
            users=np.minimum(count_c, count_t),
            effect=mean_t - mean_c,
            se=np.where(usable, se, np.nan),
        )


def _table(path: Path) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("pyarrow", "events") from None
    if not path.is_file():
        raise InputError(f"{path} is not there: give the Parquet file of the experiments")
    try:
        have = pq.read_schema(path).names
        lacking = [name for name in (*_NAMES, *_FIGURES) if name not in have]
        if lacking:
            raise InputError(f"{path} lacks the column {lacking[0]!r} (it has {', '.join(have)})")
        return pq.read_table(path, columns=[*_NAMES, *_FIGURES])
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}") from None
