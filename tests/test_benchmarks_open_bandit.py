"""Off-policy estimates: by hand, against a known world and other people's weighted means, and a small folder."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from statsmodels.stats.weightstats import DescrStatsW

from afterwit.benchmarks.open_bandit.data import Log, load
from afterwit.benchmarks.open_bandit.estimators import ESTIMATORS, effective, estimates, shown_shares, weights
from afterwit.benchmarks.open_bandit.run import run
from afterwit.errors import InputError
from cli_cases import Shell, shell

__all__ = ["shell"]

REAL = Path(os.environ.get("AFTERWIT_DATA", "data")) / "open_bandit"
RATES = np.array([0.02, 0.10, 0.30, 0.05])
LOGGED = np.array([0.55, 0.25, 0.05, 0.15])
TARGET = np.array([0.10, 0.20, 0.60, 0.10])


def logged(n: int, seed: int) -> Log:
    rng = np.random.default_rng(seed)
    item = rng.choice(4, size=n, p=LOGGED)
    return Log(
        item=item.astype(np.int64),
        position=np.zeros(n, dtype=np.int64),
        click=(rng.random(n) < RATES[item]).astype(np.float64),
        propensity=LOGGED[item],
    )


def written(path: Path, log: Log) -> None:
    columns = {
        "item_id": log.item,
        "position": log.position + 1,
        "click": log.click,
        "propensity_score": log.propensity,
    }
    pq.write_table(pa.table(columns), path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    written(tmp_path / "bts_men.parquet", logged(6000, 1))
    item = rng.integers(4, size=6000)
    clicks = (rng.random(6000) < RATES[item]).astype(np.float64)
    even = Log(item=item, position=np.zeros(6000, dtype=np.int64), click=clicks, propensity=np.full(6000, 0.25))
    written(tmp_path / "random_men.parquet", even)
    return tmp_path


def test_four_rows_by_hand() -> None:
    """Weights 0.2/0.5, 0.2/0.5, 0.8/0.25, 0.8/0.25 = 0.4, 0.4, 3.2, 3.2 with clicks 1, 0, 1, 0."""
    log = Log(
        item=np.array([0, 0, 1, 1]),
        position=np.zeros(4, dtype=np.int64),
        click=np.array([1.0, 0.0, 1.0, 0.0]),
        propensity=np.array([0.5, 0.5, 0.25, 0.25]),
    )
    target = np.array([[0.2], [0.8]])
    assert weights(log, target).tolist() == pytest.approx([0.4, 0.4, 3.2, 3.2])
    found = {name: ratios[0].value for name, ratios in estimates(log, target, seed=0).items()}
    assert found["naive"] == 0.5
    assert found["ips"] == pytest.approx(3.6 / 4)
    assert found["snips"] == pytest.approx(3.6 / 7.2)
    assert found["snips_clipped"] == pytest.approx((0.4 + 2) / (0.4 + 0.4 + 2 + 2)), "weights are cut at the root of 4"
    assert effective(np.array([1.0, 1.0, 2.0])) == pytest.approx(16 / 6)


def test_snips_is_the_weighted_mean_of_another_library() -> None:
    log = logged(3000, 2)
    w = TARGET[log.item] / LOGGED[log.item]
    found = estimates(log, TARGET[:, None], seed=0)["snips"][0].value
    assert found == pytest.approx(DescrStatsW(log.click, weights=w).mean)


def test_estimates_are_right_on_average_where_the_truth_is_known() -> None:
    """The target is worth Σ π μ; the log itself got Σ p μ, which the naive mean reports."""
    truth = float(TARGET @ RATES)
    runs = [estimates(logged(2000, seed), TARGET[:, None], seed=seed) for seed in range(200)]
    drawn = {name: np.array([found[name][0].value for found in runs]) for name in ESTIMATORS}
    for name in ("ips", "snips", "dr"):
        error = drawn[name].std(ddof=1) / np.sqrt(len(runs))
        assert abs(drawn[name].mean() - truth) < 3.5 * error, name
    assert drawn["naive"].mean() == pytest.approx(float(LOGGED @ RATES), abs=0.002)
    assert drawn["dr"].std() < drawn["ips"].std(), "a model of the reward takes variance away"


def test_shares_of_a_log_sum_to_one_at_each_position() -> None:
    log = logged(500, 3)
    shares = shown_shares(log, 4, 1)
    assert shares.sum(axis=0).tolist() == pytest.approx([1.0])
    assert shares[0, 0] == (log.item == 0).mean()


def test_a_small_folder(folder: Path) -> None:
    calls: list[tuple[int, int | None]] = []
    record = run(folder, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(1, 2), (2, 2)]
    truth = record.policies["truth"]["value@men:bts>random"].value
    assert truth == pytest.approx(RATES.mean(), abs=0.02)
    off, near = (record.policies[name]["error@men:bts>random"] for name in ("naive", "snips"))
    assert off.high is not None
    assert off.high < 0, "the log shows poor items more often, and its mean says so"
    assert near.low is not None
    assert near.high is not None
    assert near.low < 0 < near.high
    assert record.policies["dr"]["relative_error"].value < record.policies["naive"]["relative_error"].value
    again = run(folder)
    assert again.policies == record.policies


def test_the_command_prints_a_table_the_record_and_the_page(folder: Path, shell: Shell) -> None:
    told = shell("evaluate", "open-bandit", "--data", folder, "--out", folder / "out")
    assert told.code == 0
    assert "snips_clipped" in told.out
    assert "Side by side" in (folder / "out" / "report.html").read_text(encoding="utf-8")
    asked = shell("evaluate", "open-bandit", "--data", folder, "--json").json
    assert asked["policies"]["ips"] == json.loads((folder / "out" / "record.json").read_text())["policies"]["ips"]
    assert shell("evaluate", "open-bandit", "--data", folder / "out").code == 2
    same = shell("evaluate", "tide", "--analysis", "offpolicy", "--data", folder, "--json").json
    assert same["policies"] == asked["policies"]
    assert "offpolicy is of real data: name it with --data" in shell("evaluate", "tide", "--analysis", "offpolicy").err


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [("propensity_score", 0.0, "propensity 0 cannot be"), ("click", 2.0, "click 2"), ("item_id", None, "item nan")],
)
def test_an_impossible_row_is_named(folder: Path, column: str, value: float | None, says: str) -> None:
    path = folder / "bts_men.parquet"
    rows = pq.read_table(path).slice(0, 3).to_pylist()
    rows[1][column] = value
    pq.write_table(pa.Table.from_pylist(rows), path)
    with pytest.raises(InputError, match=f"row 2: .*{says}|row 2: {says}") as told:
        load(folder)
    assert "\n" not in str(told.value)


def test_a_folder_without_a_pair_of_logs_says_what_it_wants(tmp_path: Path) -> None:
    written(tmp_path / "random_men.parquet", logged(10, 1))
    with pytest.raises(InputError, match="holds no campaign: give a folder with random_NAME"):
        load(tmp_path)
    (tmp_path / "bts_men.parquet").write_text("no")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        load(tmp_path)


@pytest.mark.skipif(not REAL.is_dir(), reason="AFTERWIT_DATA names no folder with open_bandit/: not shipped")
def test_on_the_real_logs_the_truths_are_too_noisy_to_rank_estimators() -> None:
    record = run(REAL)
    assert record.counts["rows_bts_all"] == 10_000
    assert record.policies["truth"]["resolution"].value > 0.2
    assert record.policies["snips"]["agrees"].value == 1.0
