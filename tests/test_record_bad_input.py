"""What ingest refuses: rows set aside with number and reason, files as a whole in one line."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from afterwit.errors import InputError, StoreError
from record_cases import Place, arm, event, write_csv, write_jsonl, write_parquet


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    found = Place.at(tmp_path / "place")
    yield found
    found.store.close()


BAD_EVENTS: list[tuple[dict[str, Any], str]] = [
    ({"count": -1}, "count is negative: -1"),
    ({"count": "many"}, "count is no whole number: many"),
    ({"count": 1.5}, "count is no whole number: 1.5"),
    ({"count": "nan"}, "count is no whole number: nan"),
    ({"count": "inf"}, "count is no whole number: inf"),
    ({"count": 1e300}, "count is no whole number"),
    ({"at": "yesterday"}, "at is no time: yesterday"),
    ({"at": "infinity"}, "at is no time: infinity"),
    ({"at": "2025-13-40T00:00:00Z"}, "at is no time"),
    ({"at": "90000-01-01T00:00:00Z"}, "at is no time"),
    ({"at": None}, "at is missing"),
    ({"event_id": " "}, "event_id is missing"),
    ({"delivery_id": None}, "delivery_id is missing"),
    ({"kind": ""}, "kind is missing"),
]


def test_bad_events_are_set_aside_and_good_ones_kept(place: Place, tmp_path: Path) -> None:
    rows = [event(0)]
    for n, (changes, _) in enumerate(BAD_EVENTS, 1):
        rows += [event(2 * n, **changes), event(2 * n + 1)]
    file = write_jsonl(tmp_path / "a.jsonl", rows)
    report = place.ingest(file)
    assert (report.events_new, report.rejected) == (len(BAD_EVENTS) + 1, len(BAD_EVENTS))
    assert report.rejects_path == place.rejects
    assert str(place.rejects) in report.summary()
    for n, (line, (_, reason)) in enumerate(zip(place.rejected(), BAD_EVENTS, strict=True)):
        assert (line["file"], line["row"]) == (str(file), 2 * n + 2)
        assert line["reason"].startswith(reason)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"impressions": -5}, "impressions is negative: -5"),
        ({"clicks": -5}, "clicks is negative: -5"),
        ({"clicks": 5000}, "more clicks than impressions"),
        ({"clicks": ""}, "clicks is missing"),
        ({"impressions": "1,000"}, "impressions may have thousands separators, which the mapping must name: 1,000"),
        (
            {"created_at": "05.01.2014"},
            "created_at is day-first or month-first, which --time-format must say: 05.01.2014",
        ),
    ],
)
def test_bad_aggregates_are_set_aside(place: Place, tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    report = place.ingest(write_csv(tmp_path / "a.csv", [arm(1), arm(2, **changes)]), mapping="headlines")
    assert (report.deliveries_new, report.events_new, report.rejected) == (1, 2, 1)
    assert (place.rejected()[0]["row"], place.rejected()[0]["reason"]) == (2, reason)


def test_a_propensity_outside_its_range_is_set_aside(place: Place, tmp_path: Path) -> None:
    base = {"created_at": "2025-03-01T00:00:00Z", "text": "x"}
    rows = [{"delivery_id": str(p), "propensity": p, **base} for p in (0.0, 1.5, 1.0)]
    assert place.ingest(write_jsonl(tmp_path / "a.jsonl", rows)).rejected == 2
    assert [d.id for d in place.deliveries()] == ["1.0"]


def test_the_same_event_id_with_other_content(place: Place, tmp_path: Path) -> None:
    inside = place.ingest(write_jsonl(tmp_path / "a.jsonl", [event(1), event(1, count=2), event(1), event(2)]))
    assert (inside.events_new, inside.events_known, inside.rejected) == (2, 1, 1)
    assert place.rejected()[0]["row"] == 2
    against_log = place.ingest(write_jsonl(tmp_path / "b.jsonl", [event(2, kind="click"), event(3)]))
    assert (against_log.events_new, against_log.rejected) == (1, 1)
    assert [(line["file"][-7:], line["row"]) for line in place.rejected()] == [("a.jsonl", 2), ("b.jsonl", 1)]
    assert all("same id" in line["reason"] for line in place.rejected())
    assert [(e["event_id"], e["kind"], e["count"]) for e in place.events()] == [
        ("e1", "impression", 1),
        ("e2", "impression", 1),
        ("e3", "impression", 1),
    ]


def test_the_same_delivery_id_with_other_content(place: Place, tmp_path: Path) -> None:
    row = {"delivery_id": "d", "created_at": "2025-03-01T00:00:00Z", "text": "one"}
    inside = place.ingest(write_jsonl(tmp_path / "a.jsonl", [row, row | {"text": "two"}, row]))
    assert (inside.deliveries_new, inside.rejected) == (1, 1)
    against_store = place.ingest(
        write_jsonl(tmp_path / "b.jsonl", [row | {"text": "three"}, row | {"delivery_id": "e"}])
    )
    assert (against_store.deliveries_new, against_store.rejected) == (1, 1)
    assert [d.text for d in place.deliveries()] == ["one", "one"]


def test_a_final_count_that_changes_is_set_aside(place: Place, tmp_path: Path) -> None:
    place.ingest(write_csv(tmp_path / "a.csv", [arm(1), arm(2)]), mapping="headlines")
    report = place.ingest(write_csv(tmp_path / "b.csv", [arm(1), arm(2, clicks=99)]), mapping="headlines")
    assert (report.events_new, report.events_known, report.rejected) == (0, 2, 1)


def test_a_mended_file_takes_its_rejected_rows_back(place: Place, tmp_path: Path) -> None:
    other = write_jsonl(tmp_path / "b.jsonl", [event(8, count=-1)])
    file = write_jsonl(tmp_path / "a.jsonl", [event(1, count=-1)])
    place.ingest(file, other)
    write_jsonl(file, [event(1)])
    place.ingest(file)
    assert [line["file"] for line in place.rejected()] == [str(other)]


def test_ragged_csv_lines_keep_the_count_of_rows(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    head = "event_id,delivery_id,kind,at,user_id\n"
    good = '{},d,click,2025-03-01T10:00:00Z,"a ""quoted"" name"\n'
    file.write_text(head + good.format("a") + "b,d\n" + "c,d,click,x,y,z\n" + good.format("e") + "f,d,click,never,u\n")
    report = place.ingest(file)
    assert (report.rows, report.events_new, report.rejected) == (5, 2, 3)
    assert [(line["row"], line["reason"]) for line in place.rejected()] == [
        (2, "fewer values than the header has"),
        (3, "more values than the header has"),
        (5, "at is no time: never"),
    ]
    assert place.events()[0]["user_id"] == 'a "quoted" name'


def test_a_broken_json_line_is_one_bad_row(place: Place, tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "a.jsonl", [event(1), event(2)])
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], '{"event_id": ', "[1, 2]", lines[1]]) + "\n")
    assert place.ingest(file).events_new == 2
    assert [(line["row"], line["reason"]) for line in place.rejected()] == [
        (2, "is no JSON object"),
        (3, "is no JSON object"),
    ]


def refused(place: Place, *paths: Path, **options: Any) -> str:
    with pytest.raises(InputError) as found:
        place.ingest(*paths, **options)
    assert found.value.exit_code == 2
    assert "\n" not in str(found.value)
    assert place.events() == []
    assert place.deliveries() == []
    assert not place.rejects.exists()
    return str(found.value)


def test_a_missing_file_stops_before_the_others_are_read(place: Place, tmp_path: Path) -> None:
    good = write_jsonl(tmp_path / "a.jsonl", [event(1)])
    assert "there is no file" in refused(place, good, tmp_path / "b.jsonl")
    assert "there is no file" in refused(place, good, tmp_path / "*.parquet")


def test_a_wrong_column_names_those_that_are_there(place: Place, tmp_path: Path) -> None:
    file = write_csv(tmp_path / "a.csv", [{"test_id": "t", "created_at": "2014-01-01", "title": "x"}])
    message = refused(place, file, mapping="headlines")
    assert "no column 'image_id'" in message
    assert "created_at, test_id, title" in message
    assert "it has created_at, test_id, title" in refused(place, file)


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.jsonl", "a.csv.gz"])
def test_an_empty_file(place: Place, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(b"")
    assert "is empty" in refused(place, file)


def test_a_truncated_parquet_file(place: Place, tmp_path: Path) -> None:
    file = write_parquet(tmp_path / "a.parquet", [event(n) for n in range(500)])
    file.write_bytes(file.read_bytes()[:-40])
    assert "cannot be read as Parquet" in refused(place, file)


def test_a_parquet_file_broken_in_the_middle(place: Place, tmp_path: Path) -> None:
    file = write_parquet(tmp_path / "a.parquet", [event(n, at=f"2025-03-01T10:00:{n % 60:02d}Z") for n in range(5000)])
    data = bytearray(file.read_bytes())
    data[10 : len(data) // 2] = b"\xff" * (len(data) // 2 - 10)
    file.write_bytes(bytes(data))
    assert "cannot be read as Parquet" in refused(place, file)


def test_a_truncated_gz_file(place: Place, tmp_path: Path) -> None:
    plain = write_csv(tmp_path / "a.csv", [event(n) for n in range(3000)])
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes())[:-300])
    assert "cannot be read as CSV" in refused(place, packed)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_bytes_that_are_no_utf8(place: Place, tmp_path: Path, name: str) -> None:
    write = write_csv if name.endswith("csv") else write_jsonl
    file = write(tmp_path / name, [event(1), event(2, delivery_id="café")])
    file.write_bytes(file.read_bytes().replace("é".encode(), b"\xe9"))
    assert "is not UTF-8" in refused(place, file)


def test_a_suffix_that_says_nothing(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "a.doc"
    file.write_bytes(b"PK")
    assert "no known format" in refused(place, file)
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    assert "cannot be read as Excel" in refused(place, tmp_path / "a.xlsx")


def test_a_column_named_twice(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("event_id,kind,kind\n1,2,3\n")
    assert "two columns named 'kind'" in refused(place, file)


@pytest.mark.parametrize("at", ["2025-03-01 10:00:00", "2025-03-01T10:00", "2025-03-01"])
def test_a_naive_time_needs_a_timezone(place: Place, tmp_path: Path, at: str) -> None:
    file = write_jsonl(tmp_path / "a.jsonl", [event(1), event(2, at=at)])
    message = refused(place, file)
    assert "row 2" in message
    assert "--timezone" in message
    assert place.ingest(file, timezone="UTC").events_new == 2


def test_an_unknown_timezone(place: Place, tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "a.jsonl", [event(1)])
    assert "no time zone 'Mars/Base'" in refused(place, file, timezone="Mars/Base")


def test_rejects_that_cannot_be_written_leave_nothing_behind(place: Place, tmp_path: Path) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("")
    file = write_jsonl(tmp_path / "a.jsonl", [event(1), event(2, count=-1)])
    with pytest.raises(StoreError, match="cannot be written"):
        place.ingest(file, rejects=blocked / "rejects.jsonl")
    assert place.events() == []


def test_a_file_is_never_overwritten_as_rejects(place: Place, tmp_path: Path) -> None:
    precious = tmp_path / "notes.txt"
    precious.write_text("not a list of rejected rows\n")
    file = write_jsonl(tmp_path / "a.jsonl", [event(1, count=-1)])
    with pytest.raises(StoreError, match="no file of rejected rows"):
        place.ingest(file, rejects=precious)
    assert precious.read_text() == "not a list of rejected rows\n"
