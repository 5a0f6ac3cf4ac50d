"""Delivery events as Parquet segments: each event once, whole or not at all."""

import os
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from afterwit.errors import Conflict, InputError, StoreError
from afterwit.store.segments import Segments

# ibis 12 still calls a name that DuckDB 2 has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")

NOON = datetime(2014, 3, 1, 12, tzinfo=UTC)
HERE = Path(__file__).parent


def events(*ids: str, **changes: Any) -> pa.Table:
    moment = pa.timestamp("us", tz="UTC")
    columns: dict[str, Any] = {
        "delivery_id": "d1",
        "kind": "click",
        "at": pa.scalar(NOON, moment),
        "available_at": pa.scalar(NOON, moment),
        "count": 1,
        "user_id": pa.scalar(None, pa.string()),
        "aggregate": False,
        "final": False,
        **changes,
    }
    return pa.table({"event_id": list(ids), **{name: pa.repeat(v, len(ids)) for name, v in columns.items()}})


def ids(log: Segments, scope: str = "a") -> list[str]:
    return sorted(log.table(scope).event_id.execute())


def test_each_event_is_kept_once_and_scopes_stay_apart(tmp_path: Path) -> None:
    log = Segments(tmp_path / "memory.db.events")
    assert log.append("a", events("e1", "e2", "e1")) == (2, 1)
    assert log.append("a", events("e2", "e3")) == (1, 1)
    assert log.append("a", events("e1", "e3")) == (0, 2)
    assert log.append("a/../b", events("e1")) == (1, 0)
    assert ids(log) == ["e1", "e2", "e3"]
    assert ids(log, "a/../b") == ["e1"]
    assert len(list((tmp_path / "memory.db.events").rglob("*.parquet"))) == 3
    assert ids(Segments(tmp_path / "memory.db.events")) == ["e1", "e2", "e3"]


def test_the_table_has_the_same_types_with_and_without_events(tmp_path: Path) -> None:
    log = Segments(tmp_path)
    empty = log.table("a").schema()
    assert ids(log) == []
    late = events("e1", at=pa.scalar(NOON + timedelta(microseconds=1), pa.timestamp("us", tz="UTC")))
    log.append("a", late)
    assert log.table("a").schema() == empty
    (row,) = log.table("a").to_pyarrow().to_pylist()
    assert row["at"] == NOON + timedelta(microseconds=1)
    assert row["user_id"] is None


@pytest.mark.parametrize(
    "change", [{"count": 2}, {"user_id": "u"}, {"kind": "impression"}, {"delivery_id": "d2"}, {"final": True}]
)
def test_a_known_id_with_other_content_is_refused_and_nothing_is_written(tmp_path: Path, change: Any) -> None:
    log = Segments(tmp_path)
    log.append("a", events("e1"))
    with pytest.raises(Conflict, match="event e1 "):
        log.append("a", pa.concat_tables([events("e0"), events("e1", **change)]))
    with pytest.raises(Conflict, match="event e5 "):
        log.append("a", pa.concat_tables([events("e5"), events("e5", **change)]))
    assert ids(log) == ["e1"]


def test_an_event_seen_again_later_keeps_its_first_availability(tmp_path: Path) -> None:
    log = Segments(tmp_path)
    later = events("e1", available_at=pa.scalar(NOON + timedelta(days=1), pa.timestamp("us", tz="UTC")))
    assert log.append("a", pa.concat_tables([later, events("e1")])) == (1, 1)
    assert log.append("a", later) == (0, 1)
    assert log.table("a").to_pyarrow()["available_at"].to_pylist() == [NOON]


def test_columns_are_checked(tmp_path: Path) -> None:
    log = Segments(tmp_path)
    with pytest.raises(InputError, match="lack the column 'count'"):
        log.append("a", events("e1").drop_columns(["count"]))
    with pytest.raises(InputError, match="without 'kind'"):
        log.append("a", events("e1", kind=pa.scalar(None, pa.string())))
    with pytest.raises(InputError, match="types"):
        log.append("a", events("e1", count="many"))


def test_forgetting_removes_the_events_of_a_delivery_from_every_segment(tmp_path: Path) -> None:
    log = Segments(tmp_path)
    log.append("a", pa.concat_tables([events("e1", delivery_id="secret-1"), events("e2")]))
    log.append("a", events("e3", delivery_id="secret-1"))
    log.append("b", events("e1", delivery_id="secret-2"))
    assert log.forget("a", ["secret-1", "nobody"]) == 2
    assert ids(log) == ["e2"]
    assert not any(b"secret-1" in path.read_bytes() for path in tmp_path.rglob("*.parquet"))
    assert log.append("a", events("e4")) == (1, 0)
    assert log.forget("a") == 2
    assert ids(log) == []
    assert ids(log, "b") == ["e1"]


def test_what_a_crash_left_is_ignored_and_cleared(tmp_path: Path) -> None:
    log = Segments(tmp_path)
    log.append("a", events("e1"))
    (segment,) = tmp_path.rglob("*.parquet")
    rest = segment.with_name("000002.parquet.partial")
    rest.write_bytes(segment.read_bytes()[:100])
    assert ids(log) == ["e1"]
    log.append("a", events("e2"))
    assert not rest.exists()
    assert ids(log) == ["e1", "e2"]


def test_a_truncated_segment_is_named(tmp_path: Path) -> None:
    log = Segments(tmp_path)
    log.append("a", events("e1"))
    log.append("a", events("e2"))
    segment = sorted(tmp_path.rglob("*.parquet"))[1]
    segment.write_bytes(segment.read_bytes()[:-20])
    for call in (lambda: log.table("a"), lambda: log.append("a", events("e3")), lambda: log.forget("a", ["d"])):
        with pytest.raises(StoreError, match=r"000002\.parquet") as caught:
            call()
        assert "\n" not in str(caught.value)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="file"):
        Segments(tmp_path / "file" / "events").append("a", events("e1"))


APPENDER = """
import sys
import threading
from test_store_segments import events
from afterwit.store.segments import Segments
log = Segments(sys.argv[1])
print(sum(log.append("a", events(*(f"e{n + k}" for k in range(5))))[0] for n in range(0, 40, 2)))
"""


def test_two_processes_lose_and_double_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", APPENDER, str(tmp_path)]
    running = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    told = [process.communicate(timeout=60) for process in running]
    assert [process.returncode for process in running] == [0, 0], told
    found = ids(Segments(tmp_path))
    assert len(found) == len(set(found)) == 43
    assert sum(int(out) for out, _ in told) == 43


def test_threads_read_one_log_at_once(tmp_path: Path) -> None:
    log = Segments(tmp_path)
    log.append("a", events("e1", "e2"))
    failed: list[Exception] = []

    def read(scope: str) -> None:
        try:
            for _ in range(20):
                assert len(log.table(scope).execute()) == (2 if scope == "a" else 0)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=read, args=(scope,)) for scope in ("a", "a", "nobody", "nobody")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
