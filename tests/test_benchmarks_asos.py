"""Early verdicts on running experiments: rules by hand, a small file, and the real one."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import integrate, stats

from afterwit.benchmarks.asos.data import Course, load
from afterwit.benchmarks.asos.rules import STRICT, Gate, always_valid, at, first, fixed
from afterwit.benchmarks.asos.run import run
from afterwit.credit.confirmation.later import mixture_width
from afterwit.errors import InputError
from afterwit.evaluate.metrics.always_valid import always_valid_margin

REAL = Path(os.environ.get("AFTERWIT_DATA", "data")) / "asos" / "experiments.parquet"


def course(effect: list[float], se: float | list[float] = 1.0, start: float = 1.0) -> Course:
    n = len(effect)
    return Course(
        experiment="e",
        variant="1",
        metric="1",
        days=start + np.arange(n, dtype=np.float64),
        users=np.full(n, 1000.0),
        effect=np.array(effect),
        se=np.broadcast_to(np.asarray(se, dtype=np.float64), (n,)).copy(),
    )


def written(path: Path, rows: list[dict[str, object]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def rows(experiment: str, effects: list[float], *, users: int = 10_000, **instead: object) -> list[dict[str, object]]:
    """One checkpoint a day; a standard error of √(2 · 0.25 / users)."""
    return [
        {
            "experiment_id": experiment,
            "variant_id": 1,
            "metric_id": 1,
            "time_since_start": day,
            "count_c": float(users),
            "count_t": float(users),
            "mean_c": 0.5,
            "mean_t": 0.5 + effect,
            "variance_c": 0.25,
            "variance_t": 0.25,
            **instead,
        }
        for day, effect in enumerate(effects, 1)
    ]


def test_a_verdict_is_the_side_of_a_95_percent_interval() -> None:
    assert fixed(course([1.95, 1.97, -1.97, 0.0])).tolist() == [0, 1, -1, 0]
    assert fixed(course([5.0, 5.0], [1.0, np.nan])).tolist() == [1, 0], "without a standard error there is none"


def test_the_margin_solves_the_mixture_it_comes_from() -> None:
    """At the edge the mixture likelihood ratio ∫ N(z; θV, V) / N(z; 0, V) dN(θ; 0, 1/ρ) is 1/α: by quadrature."""
    se, planned = 0.2, 0.1
    margin = float(always_valid_margin(np.array([se]), np.array([planned]))[0])
    v, rho = se**-2, float(mixture_width(np.array([planned**-2]))[0])

    def integrand(theta: float) -> float:
        return float(np.exp(theta * margin * v - theta**2 * v / 2) * stats.norm.pdf(theta, scale=rho**-0.5))

    ratio, _ = integrate.quad(integrand, -10, 10, epsabs=1e-10, limit=400, points=[0, margin])
    assert ratio == pytest.approx(1 / 0.05, rel=1e-6)


def test_the_sequence_is_wider_than_one_look_and_covers_all_looks() -> None:
    """A thousand walks without an effect, looked at 200 times each: 5 % may ever be called, and peeking calls many."""
    draws = np.random.default_rng(3).normal(size=(1000, 4000)).cumsum(axis=1)
    n = np.arange(20, 4001, 20)
    mean, se = draws[:, n - 1] / n, 1 / np.sqrt(n)
    ever = (np.abs(mean) > always_valid_margin(se, np.full(len(se), 1 / np.sqrt(1000)))).any(axis=1).mean()
    peeking = (np.abs(mean) > 1.96 * se).any(axis=1).mean()
    assert ever <= 0.05
    assert peeking > 0.3
    assert not always_valid(course([2.1] * 10)).any()
    assert always_valid(course([4.0] * 10)).all()
    assert always_valid_margin(np.array([np.nan, 0.0]), np.ones(2)).tolist() == [np.inf, np.inf]


def test_the_gate_wants_a_week_no_gap_users_and_a_steady_estimate() -> None:
    steady = course([1.0] * 12)
    assert Gate().passes(steady).tolist() == [False] * 6 + [True] * 6
    jumped = course([1.0] * 9 + [3.0] * 3)
    assert Gate().passes(jumped).tolist() == [False] * 6 + [True] * 3 + [False] * 2 + [True]
    gap = Course(**{**vars(steady), "days": np.array([1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13.0])})
    assert not Gate().passes(gap).any()
    assert not Gate(users=2000).passes(steady).any()
    late = course([1.0] * 12, start=5.0)
    assert Gate().passes(late).any()
    assert not STRICT.passes(late).any()


def test_an_early_checkpoint_is_never_the_last_one() -> None:
    ten = course([0.0] * 10)
    assert (at(ten, 3.9), at(ten, 0.5), at(ten, 10.0)) == (2, None, None)
    assert first(np.array([0, 0, 1, -1])) == 2
    assert first(np.array([0, 0, 0, 1])) is None


def test_figures_of_a_small_file_by_hand(tmp_path: Path) -> None:
    """se = 0.00707, so ±0.0139: one stands, one fades, one turns, one never speaks; one lacks its last variance."""
    day = [0.02] * 20
    path = written(
        tmp_path / "e.parquet",
        [
            *rows("stands", day),
            *rows("fades", day[:10] + [0.005] * 10),
            *rows("turns", day[:10] + [-0.02] * 10),
            *rows("silent", [0.0] * 20),
            *rows("open", day, variance_t=None),
        ],
    )
    calls: list[tuple[int, int | None]] = []
    record = run(path, progress=lambda done, total: calls.append((done, total)))
    assert record.counts["comparisons_without_end"] == 1
    assert (record.counts["checkpoints_without_figure"], record.counts["checkpoints"]) == (20, 100)
    early = record.policies["snapshot:3d"]
    assert (early["decided"].value, early["decided"].n) == (0.75, 4)
    assert early["reversed"].value == pytest.approx(1 / 3)
    assert early["not_upheld"].value == pytest.approx(2 / 3)
    assert early["decided_right"].value == 0.25
    assert early["found"].value == 0.5, "of two with a verdict at the end one was found"
    assert record.policies["gated:3d"]["decided"].value == 0, "a gate of seven days is shut on the third"
    assert record.policies["gated:7d"]["decided"].value == 0.75
    assert record.policies["peeking"]["elapsed"].value == pytest.approx(1 / 20)
    assert record.policies["always_valid"]["not_upheld@peeking"].value <= 0
    assert calls[-1] == (4, 4)
    again = run(path)
    assert again.policies == record.policies


def test_a_share_of_none_still_has_an_interval(tmp_path: Path) -> None:
    record = run(written(tmp_path / "e.parquet", [row for i in range(10) for row in rows(str(i), [0.03] * 20)]))
    found = record.policies["snapshot:3d"]["reversed"]
    assert found.value == 0
    assert found.high == pytest.approx(0.278, abs=0.001), "Wilson for none of ten"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: None, "is not there"),
        (lambda path: path.write_text("nothing"), "cannot be read as Parquet"),
        (lambda path: pq.write_table(pa.table({"experiment_id": ["a"]}), path), "lacks the column 'variant_id'"),
        (lambda path: written(path, rows("a", [0.1], mean_c="much")), "another type"),
        (lambda path: pq.write_table(pa.Table.from_pylist(rows("a", [0.1])).slice(0, 0), path), "holds no rows"),
    ],
)
def test_a_bad_file_gives_one_line(tmp_path: Path, make: object, says: str) -> None:
    path = tmp_path / "e.parquet"
    assert callable(make)
    make(path)
    with pytest.raises(InputError, match=says) as told:
        load(path)
    assert "\n" not in str(told.value)


@pytest.mark.skipif(not REAL.is_file(), reason="AFTERWIT_DATA names no folder with asos/: not shipped")
def test_on_the_real_experiments_peeking_is_upheld_less_often() -> None:
    record = run(REAL)
    assert (record.counts["experiments"], record.counts["comparisons"]) == (78, 396)
    assert record.counts["comparisons_without_end"] == 15
    peeking, sequence = record.policies["peeking"], record.policies["always_valid"]
    assert peeking["not_upheld"].value > 0.4
    against = sequence["not_upheld@peeking"]
    assert against.high is not None
    assert against.high < 0
    assert record.policies["snapshot:1d"]["not_upheld"].value > record.policies["snapshot:75%"]["not_upheld"].value
