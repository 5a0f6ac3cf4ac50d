"""The benchmark end to end on a part of the bundled sample, and what it refuses."""

import json
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterwit.benchmarks.upworthy import Archive, run, split
from afterwit.benchmarks.upworthy.permute import permuted_items, permuted_tasks
from afterwit.benchmarks.upworthy.run import ingested
from afterwit.benchmarks.upworthy.sample import sample
from afterwit.credit.temporal.deliveries import DeliveryTable
from afterwit.credit.temporal.lifecycle import lifecycles
from afterwit.errors import Conflict, InputError, LeakageError, StoreError, UsageError
from afterwit.evaluate.record import EvaluationRecord
from afterwit.evaluate.replay import ItemStream
from afterwit.ports import HashEmbedder
from afterwit.store.in_memory import InMemoryStore
from afterwit.store.segments import Segments

SAMPLE = sample()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return split(SAMPLE, tmp_path_factory.mktemp("upworthy"))


def evaluate(history: Path, future: Path, folder: Path, **given: object) -> EvaluationRecord:
    return run(history, future, store=InMemoryStore(), log=Segments(folder), embedder=HashEmbedder(), **given)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def record(files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> EvaluationRecord:
    return evaluate(*files, tmp_path_factory.mktemp("log"), capacity=20)


def test_every_policy_and_the_reference_have_every_metric(record: EvaluationRecord) -> None:
    assert set(record.policies) == {
        "none", "frozen", "full_history", "append_only", "random_replacement", "outcome_only", "tide",
        "tide:active_only", "reference:tfidf_ridge",
    }  # fmt: skip
    wanted = {"significant_pairs_accuracy", "pairs_accuracy", "uplift", "meg", "negative_transfer"}
    for name, figures in record.policies.items():
        assert wanted <= figures.keys(), name
        assert name.startswith("reference") or {"cards", "tokens", "meg@rounds"} <= figures.keys()
    assert {"uplift@none", "uplift@frozen", "meg@append_only"} <= record.policies["tide"].keys()
    assert record.data["history"].startswith("sha256:")


def test_nothing_gains_nothing_and_tide_learns_something(record: EvaluationRecord) -> None:
    none, tide = record.policies["none"], record.policies["tide"]
    assert none["uplift"].value == 0.0
    assert none["significant_pairs_accuracy"].value == 0.5
    assert tide["uplift@none"] == tide["uplift"]
    assert tide["uplift"].value > 0
    assert tide["significant_pairs_accuracy"].value > 0.5
    assert tide["uplift"].n == record.counts["future_tasks"]
    assert record.policies["tide:active_only"]["cards"].value == sum(c.status == "active" for c in record.cards)


def test_the_bank_keeps_its_bounds(record: EvaluationRecord) -> None:
    assert 0 < len(record.cards) <= 20
    assert all(card.tokens <= 60 and card.stance is not None for card in record.cards)
    for points in (record.series["tide"], record.series["random_replacement"], record.series["outcome_only"]):
        assert max(point.cards for point in points) <= 20


def test_the_store_holds_the_same_rounds_and_bank(files: tuple[Path, Path], tmp_path: Path) -> None:
    store = InMemoryStore()
    found = run(*files, store=store, log=Segments(tmp_path), embedder=HashEmbedder(), capacity=20, policies=("tide",))
    assert {c.id: c for c in store.bank("benchmark/upworthy", "content").cards} == {c.id: c for c in found.cards}
    assert len(store.rounds("benchmark/upworthy")) == len(found.rounds)
    assert not store.check("benchmark/upworthy")
    with pytest.raises(Conflict, match="already holds a bank"):
        run(*files, store=store, log=Segments(tmp_path), embedder=HashEmbedder(), policies=("tide",))


def test_the_same_seed_gives_the_same_record(
    record: EvaluationRecord, files: tuple[Path, Path], tmp_path: Path
) -> None:
    again = evaluate(*files, tmp_path, capacity=20)
    assert again.to_json()["policies"] == record.to_json()["policies"]
    assert [card.id for card in again.cards] == [card.id for card in record.cards]


def test_one_lifecycle_serves_every_round(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Of aggregates, what was known at a moment is what was available by then; the pass relies on it."""
    store, log = InMemoryStore(), Segments(tmp_path)
    until = np.datetime64("2014-04-01", "us")
    ripe, _ = ingested(files[0], until, scope="s", store=store, log=log, embedder=HashEmbedder())
    whole = ripe.items()
    table = DeliveryTable.of(store.deliveries("s"))
    for at in (datetime(2013, 12, 15, tzinfo=UTC), datetime(2014, 2, 2, tzinfo=UTC)):
        then, now = lifecycles(log.table("s"), table, at).items(), ItemStream(items=whole).known(at)
        assert np.array_equal(then.ids, now.ids)
        assert np.array_equal(then.exposures, now.exposures)
        assert np.array_equal(then.confirmable, now.confirmable)


def test_a_test_in_both_files_is_refused_by_name(files: tuple[Path, Path], tmp_path: Path) -> None:
    history, future = files
    shared = pq.read_table(history).slice(0, 1)
    path = tmp_path / "future.parquet"
    pq.write_table(pa.concat_tables([pq.read_table(future), shared]), path)
    with pytest.raises(LeakageError, match=f"test {shared['test_id'][0].as_py()} is in the history and in the future"):
        evaluate(history, path, tmp_path)


def test_outcomes_that_come_after_the_freeze_are_left_out_and_counted(record: EvaluationRecord) -> None:
    assert record.counts["history_arms_not_available"] > 0
    assert record.series["tide"][-1].at < datetime(2014, 4, 30, tzinfo=UTC)
    assert record.counts["items_learned_from"] < record.counts["history_arms"]


def test_a_future_before_the_history_leaves_nothing_to_learn_from(files: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing to learn from"):
        evaluate(files[1], files[0], tmp_path)


def test_splitting_cuts_no_test_in_two(files: tuple[Path, Path]) -> None:
    past, coming = (Archive.read(path) for path in files)
    assert not set(past.tests) & set(coming.tests)
    assert past.created_at.max() < coming.created_at.min()
    assert len(past.tests) + len(coming.tests) == pq.read_metadata(SAMPLE).num_rows
    with pytest.raises(InputError, match="no tests on one side"):
        split(SAMPLE, files[0].parent / "x", at=datetime(2030, 1, 1, tzinfo=UTC))
    with pytest.raises(StoreError, match="cannot be written"):
        split(SAMPLE, files[0] / "x")


def test_tasks_are_one_test_and_image_with_equal_headlines_summed(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    rows = [("t1", "i1", "A", 100, 5), ("t1", "i1", "B", 100, 1), ("t1", "i1", "A", 50, 3), ("t1", "i2", "A", 10, 1),
            ("t2", None, "C", 70, 7), ("t2", None, "D", 80, 8)]  # fmt: skip
    names = ("test_id", "image_id", "headline", "impressions", "clicks")
    columns = {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    pq.write_table(pa.table({**columns, "created_at": [datetime(2014, 1, 1)] * 6}), path)  # noqa: DTZ001
    tasks = Archive.read(path).tasks()
    assert list(tasks.names) == ["t1 · i1", "t2 · no image"]
    assert list(tasks.texts) == ["A", "B", "C", "D"]
    assert list(tasks.exposures) == [150, 100, 70, 80]
    assert list(tasks.engagements) == [8, 1, 7, 8]
    assert list(tasks.experiments) == [0, 1]


def _with(path: Path, column: str, value: int) -> Path:
    table = pq.read_table(SAMPLE)
    changed = pc.if_else(pa.array(np.arange(table.num_rows) == 3), pa.scalar(value, table[column].type), table[column])
    pq.write_table(table.set_column(table.schema.get_field_index(column), column, changed), path)
    return path


def test_bad_files_are_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not there"):
        Archive.read(tmp_path / "missing.parquet")
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(SAMPLE.read_bytes()[:5000])
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        Archive.read(cut)
    lacking = tmp_path / "lacking.parquet"
    pq.write_table(pq.read_table(SAMPLE).drop_columns(["clicks"]), lacking)
    with pytest.raises(InputError, match="lacks the column 'clicks'"):
        Archive.read(lacking)
    with pytest.raises(InputError, match=r"row 4: .* clicks of .* impressions cannot be"):
        Archive.read(_with(tmp_path / "many.parquet", "clicks", 10**6))
    with pytest.raises(InputError, match="row 4: -2 clicks"):
        Archive.read(_with(tmp_path / "negative.parquet", "clicks", -2))
    empty = tmp_path / "empty.parquet"
    pq.write_table(pq.read_table(SAMPLE).slice(0, 0), empty)
    with pytest.raises(InputError, match="holds no rows"):
        Archive.read(empty)
    table = pq.read_table(SAMPLE)
    timeless = tmp_path / "timeless.parquet"
    nothing = pa.array([None] * table.num_rows, pa.timestamp("us"))
    pq.write_table(table.set_column(table.schema.get_field_index("created_at"), "created_at", nothing), timeless)
    with pytest.raises(InputError, match="row 1 lacks its test_id or created_at"):
        Archive.read(timeless)
    wordy = tmp_path / "wordy.parquet"
    words = pa.array(["many"] * table.num_rows)
    pq.write_table(table.set_column(table.schema.get_field_index("clicks"), "clicks", words), wordy)
    with pytest.raises(InputError, match="counts or times of another type"):
        Archive.read(wordy)


def test_a_capacity_of_nought_and_an_unknown_policy_are_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="capacity is 0"):
        evaluate(*files, tmp_path, capacity=0)
    with pytest.raises(UsageError, match="no policy 'magic'"):
        evaluate(*files, tmp_path, policies=("magic",))


def test_the_sample_is_small_and_attributed() -> None:
    assert SAMPLE.stat().st_size < 700_000
    attribution = (SAMPLE.parent / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for wanted in ("Upworthy Research Archive", "CC BY 4.0", "jd64p", "Matias"):
        assert wanted in attribution
    assert pq.read_table(SAMPLE)["created_at"].to_numpy().max() < np.datetime64("2014-06-01")


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_permuting_keeps_each_tests_outcomes_and_moves_clicks_with_impressions(seed: int) -> None:
    tasks = Archive.read(SAMPLE).tasks()
    found = permuted_tasks(tasks, np.random.default_rng(seed))
    before, after = (
        Counter(zip(one.task.tolist(), one.exposures.tolist(), one.engagements.tolist(), strict=True))
        for one in (tasks, found)
    )
    assert before == after
    assert not np.array_equal(tasks.engagements, found.engagements)
    assert found.texts is tasks.texts


def test_permuted_items_stay_in_their_stratum() -> None:
    from evaluate_cases import make_stream

    items, _ = make_stream(tests=20)
    found = permuted_items(items, np.random.default_rng(0))
    clicks, moved = items.engagements["click"], found.engagements["click"]
    for stratum in range(20):
        assert sorted(clicks[items.strata == stratum]) == sorted(moved[items.strata == stratum])
    assert not np.array_equal(clicks, moved)


@pytest.mark.slow
def test_the_audit_finds_next_to_nothing_where_there_is_nothing() -> None:
    script = Path(__file__).parents[1] / "benchmarks" / "false_discovery_audit.py"
    command = [sys.executable, str(script), "--history", str(SAMPLE), "--at", "2014-04-01", "--runs", "40", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)
    assert done.returncode == 0, found
    assert found["confirming"] <= 6
    assert found["covering"] >= 33
    assert len(found["passes"]) == 40
