"""What `afterwit mapping` proposes for logs of many makers, and that ingest takes it as it is."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from afterwit.errors import InputError
from afterwit.record.mapping import ColumnMapping
from afterwit.record.proposal import mapping_of, propose
from cli_cases import Shell, shell
from record_cases import Place, arm, write_csv, write_jsonl, write_parquet

__all__ = ["shell"]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    found = Place.at(tmp_path / "place")
    yield found
    found.store.close()


def rows(n: int, **columns: Any) -> list[dict[str, Any]]:
    return [{name.replace("_", " "): make(i) for name, make in columns.items()} for i in range(n)]


LOGS: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "events of a mail tool": (
        rows(
            40,
            timestamp=lambda i: 1767434400 + i,
            event=lambda i: ("open", "click", "unsubscribe", "bounce")[i % 4],
            email_id=lambda i: f"m{i // 8}",
            subscriber_id=lambda i: f"u{i}",
            subject_line=lambda i: f"Words of mail number {i // 8}",
            channel=lambda i: "push" if i // 8 % 2 else "mail",
        ),
        {"shape": "events", "delivery": ("email id",), "at": "timestamp", "context": ("channel",)},
    ),
    "randomised arms in German": (
        rows(
            24,
            Betreff=lambda i: f"Ein Betreff mit Nummer {i}",
            Versuch=lambda i: f"v{i // 2}",
            Gesendet=lambda i: f"2026-01-{1 + i // 2:02d}T10:00:00Z",
            Einblendungen=lambda i: 1000 + i,
            Klicks=lambda i: 10 + i,
        ),
        {"shape": "aggregates", "delivery": ("Versuch", "Betreff"), "experiment": "Versuch", "text": "Betreff"},
    ),
    "an advertiser's report by day": (
        rows(
            30,
            day=lambda i: f"2026-01-{1 + i % 10:02d}T00:00:00Z",
            ad_id=lambda i: f"ad{i // 10}",
            headline=lambda i: f"Headline of ad {i // 10}",
            impressions=lambda i: 500 + i,
            clicks=lambda i: 5,
        ),
        {"shape": "wide", "delivery": ("ad id",), "at": "day", "created_at": "day"},
    ),
    "impressions with a flag": (
        rows(
            30,
            ts=lambda i: f"2026-01-01T10:{i:02d}:00.5Z",
            creative=lambda i: f"c{i % 3}",
            clicked=lambda i: "true" if i % 7 == 0 else "false",
        ),
        {"shape": "wide", "delivery": ("creative",), "each": "impression"},
    ),
    "columns that nobody foresaw": (
        rows(
            24,
            zq=lambda i: f"2026-01-{1 + i // 2:02d}T10:00:00Z",
            wert=lambda i: f"q{i}",
            spruch=lambda i: f"Ein Spruch aus vielen Worten {i}",
            gruppe=lambda i: f"g{i // 2}",
            x1=lambda i: 2000 + i,
            x2=lambda i: 30 + i,
        ),
        {"shape": "aggregates", "text": "spruch", "experiment": "gruppe", "created_at": "zq"},
    ),
    "the archive of headlines": (
        [{**arm(i), "test_id": f"t{i // 3}", "created_at": "2014-01-05T10:00:00Z"} for i in range(24)],
        {"shape": "aggregates", "experiment": "test_id", "created_at": "created_at"},
    ),
    "only declared deliveries with counts": (
        rows(
            9,
            send_id=lambda i: f"s{i}",
            sent_at=lambda i: f"2026-01-0{1 + i}T00:00:00Z",
            views=lambda i: 9,
            taps=lambda i: 1,
        ),
        {"shape": "aggregates", "delivery": ("send id",), "text": None},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("write", [write_csv, write_jsonl, write_parquet])
def test_a_proposal_is_a_mapping_that_ingest_takes(place: Place, tmp_path: Path, name: str, write: Any) -> None:
    log, wanted = LOGS[name]
    ending = {write_csv: "csv", write_jsonl: "jsonl", write_parquet: "parquet"}[write]
    proposal = propose(write(tmp_path / f"a.{ending}", log))
    mapping = mapping_of(proposal)
    assert {key: getattr(mapping, key) for key in wanted} == wanted
    (tmp_path / "m.toml").write_text(proposal.text, encoding="utf-8")
    assert ColumnMapping.load(tmp_path / "m.toml") == mapping
    report = place.ingest(tmp_path / f"a.{ending}", mapping=tmp_path / "m.toml")
    assert (report.rejected, report.unmatched) == (0, 0)
    assert report.events_new >= len(log)


def test_what_is_missing_is_said_and_left_open(tmp_path: Path) -> None:
    log = rows(
        9, when=lambda i: f"0{1 + i}/02/2026", ad=lambda i: f"a{i}", views=lambda i: f"1,00{i}", taps=lambda i: 3
    )
    proposal = propose(write_csv(tmp_path / "a.csv", log))
    assert {"time_format", "timezone", "thousands", "text", "experiment"} <= {e.key for e in proposal.missing}
    assert '# timezone = "UTC"  # missing: the times name no zone' in proposal.text
    decided = [*log, log[0] | {"when": "25/02/2026"}]
    again = propose(write_csv(tmp_path / "b.csv", decided))
    assert 'time_format = "%d/%m/%Y"  # guessed' in again.text


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
def test_how_the_file_is_written_is_proposed(place: Place, tmp_path: Path, encoding: str) -> None:
    text = "Export\nsend_id;sent_at;views;taps;Überschrift\n" + "".join(
        f"s{i};2026-01-01T00:00:00Z;9;1;Ein schöner Betreff {i}\n" for i in range(4)
    )
    file = tmp_path / "a.csv.gz"
    file.write_bytes(gzip.compress(text.encode(encoding)))
    proposal = propose(file)
    assert "skip = 1  # guessed: the header seems to stand in line 2" in proposal.text
    assert place.ingest(file, mapping=mapping_of(proposal)).deliveries_new == 4
    assert place.deliveries()[0].text.startswith("Ein schöner Betreff")


@pytest.mark.parametrize("lines", [[], ["d,click,2026-01-01T00:00:00Z"]])
def test_a_log_of_no_row_or_one_is_read_by_its_names(tmp_path: Path, lines: list[str]) -> None:
    file = tmp_path / "a.csv"
    file.write_text("\n".join(["delivery_id,kind,at", *lines]))
    mapping = mapping_of(propose(file))
    assert (mapping.delivery, mapping.kind, mapping.at) == (("delivery_id",), "kind", "at")


def test_three_hundred_columns_and_none_that_fits(tmp_path: Path) -> None:
    proposal = propose(write_csv(tmp_path / "a.csv", [{f"c{n}": n for n in range(300)}]))
    assert {"delivery", "kind"} <= {entry.key for entry in proposal.missing}
    with pytest.raises(InputError, match="proposed for"):
        mapping_of(proposal)


def test_the_command_writes_it_and_a_dry_run_shows_what_would_happen(shell: Shell, tmp_path: Path) -> None:
    log = rows(
        60,
        sent=lambda i: f"2026-01-{1 + i // 4:02d}T10:00:00Z",
        push_id=lambda i: f"p{i}",
        test=lambda i: f"t{i // 2}",
        text=lambda i: f"A text of number {i}",
        views=lambda i: 900 if i else -1,
        taps=lambda i: 20,
    )
    file = write_csv(tmp_path / "log.csv", log)
    assert "push id" in shell("mapping", file).out
    assert "missing: nothing" in shell("mapping", file, "--out", "m.toml").out
    assert shell("mapping", file, "--out", "m.toml").code == 2
    shell("init")
    dry = shell("ingest", file, "--mapping", "m.toml", "--dry-run")
    assert "118 new events" in dry.out
    assert f"row 1 of {file}: views is negative: -1" in dry.out
    assert "59 ready" in dry.out
    seen = shell("ingest", file, "--mapping", "m.toml", "--dry-run", "--json").json
    assert (seen["deliveries_new"], seen["verdicts"]) == (59, {"ready": 59})
    assert not list(tmp_path.glob("*rejects*"))
    real = shell("ingest", file, "--mapping", "m.toml", "--json").json
    assert (real["events_new"], real["events_known"]) == (118, 0)
    again = shell("ingest", file, "--mapping", "m.toml", "--dry-run", "--json").json
    assert (again["events_new"], again["events_known"], again["verdicts"]) == (0, 118, {"ready": 59})
