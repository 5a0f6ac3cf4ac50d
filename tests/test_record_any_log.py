"""Logs of any maker: without ids of events, with any columns, delimiters, encodings and headers."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from afterwit.errors import InputError
from afterwit.record.mapping import ColumnMapping
from record_cases import Place, arm, event, write_csv, write_jsonl, write_parquet


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    found = Place.at(tmp_path / "place")
    yield found
    found.store.close()


def bare(kind: str = "click", **changes: Any) -> dict[str, Any]:
    return {"delivery_id": "d1", "kind": kind, "at": "2025-03-01T10:00:00Z"} | changes


# Ids of events that are made from the rows


def test_a_log_without_event_ids_may_be_read_twice(place: Place, tmp_path: Path) -> None:
    file = write_csv(tmp_path / "a.csv", [bare(), bare(), bare("impression")])
    first, again = place.ingest(file), place.ingest(file)
    assert (first.events_new, first.rejected) == (3, 0), "two equal clicks of one file are two"
    assert (again.events_new, again.events_known) == (0, 3)
    assert any("the log has no ids of events" in note for note in first.notes)


@pytest.mark.parametrize(
    "changes", [{"kind": "impression"}, {"delivery_id": "d2"}, {"at": "2025-03-01T10:00:01Z"}, {"count": 2}]
)
def test_rows_that_differ_have_ids_that_differ(place: Place, tmp_path: Path, changes: dict[str, Any]) -> None:
    place.ingest(write_jsonl(tmp_path / "a.jsonl", [bare(count=1), bare(count=1) | changes]))
    assert len({e["event_id"] for e in place.events()}) == 2


def test_formats_orders_and_zones_give_the_same_ids(place: Place, tmp_path: Path) -> None:
    rows = [bare(user_id="u"), bare("impression", user_id="v"), bare(user_id="u")]
    place.ingest(write_csv(tmp_path / "a.csv", rows))
    shifted = [{**row, "at": "2025-03-01T12:00:00+02:00", "colour": "red"} for row in rows[::-1]]
    for file in (write_jsonl(tmp_path / "b.jsonl", shifted), write_parquet(tmp_path / "c.parquet", rows)):
        assert place.ingest(file).events_new == 0


def test_equal_rows_of_two_files_count_once(place: Place, tmp_path: Path) -> None:
    """The limit that the note tells: exports that overlap are safe, one click of two files is one."""
    report = place.ingest(*(write_csv(tmp_path / f"{n}.csv", [bare()]) for n in range(2)))
    assert (report.events_new, report.events_known) == (1, 1)


# What rows are


def mapped(place: Place, folder: Path, rows: list[dict[str, Any]], text: str) -> Any:
    (folder / "m.toml").write_text(text, encoding="utf-8")
    return place.ingest(write_csv(folder / "a.csv", rows), mapping=folder / "m.toml")


def test_kinds_are_translated(place: Place, tmp_path: Path) -> None:
    rows = [{"id": "d", "what": what, "when": "2025-03-01T10:00:00Z"} for what in ("OPEN", "Tap ", "bounce")]
    text = 'delivery = ["id"]\nkind = "what"\nat = "when"\n[kinds]\nopen = "impression"\ntap = "click"\n'
    assert mapped(place, tmp_path, rows, text).events_new == 3
    assert sorted(e["kind"] for e in place.events()) == ["bounce", "click", "impression"]


def test_daily_reports_add_up_and_restated_days_are_noticed(place: Place, tmp_path: Path) -> None:
    text = 'delivery = ["ad"]\nat = "day"\ntimezone = "UTC"\n[counts]\nviews = "impression"\ntaps = "click"\n'
    rows = [{"ad": "x", "day": f"2025-03-0{n}", "views": 100 * n, "taps": n - 1} for n in (1, 2, 3)]
    assert mapped(place, tmp_path, rows, text).events_new == 5, "no event for the day without a tap"
    rows[2]["views"] = 999
    again = mapped(place, tmp_path, rows, text)
    assert (again.events_new, again.rejected) == (0, 1)
    assert sum(e["count"] for e in place.events() if e["kind"] == "impression") == 600


def test_rows_that_are_impressions_with_a_flag(place: Place, tmp_path: Path) -> None:
    text = (
        'delivery = ["ad"]\nat = "t"\ncreated_at = "t"\ntext = "words"\neach = "impression"\n[counts]\nhit = "click"\n'
    )
    rows = [{"ad": "x", "t": f"2025-03-01T10:0{n}:00Z", "words": "Hi", "hit": n == 3} for n in (5, 3, 4)]
    report = mapped(place, tmp_path, [{**r, "hit": str(r["hit"])} for r in rows], text)
    assert (report.events_new, report.deliveries_new, report.rejected) == (4, 1, 0)
    (delivery,) = place.deliveries()
    assert (delivery.text, delivery.created_at.minute) == ("Hi", 3), "it begins with its first event"
    later = [{"ad": "x", "t": "2025-03-02T10:00:00Z", "words": "Hi", "hit": "false"}]
    assert mapped(place, tmp_path, later, text).rejected == 0


# How files are written


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^", "~", "\x1f"])
def test_any_delimiter(place: Place, tmp_path: Path, delimiter: str) -> None:
    lines = [delimiter.join(row) for row in (("delivery_id", "kind", "at", "text, or; so"), *[
        ("d", "click", f"2025-03-01T10:00:0{n}Z", '"a, b; c"') for n in range(3)
    ])]  # fmt: skip
    file = tmp_path / "a.csv"
    file.write_text("\n".join(lines).replace("text, or; so", '"text, or; so"'))
    assert place.ingest(file).events_new == 3


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252", "shift_jis"])
def test_any_encoding(place: Place, tmp_path: Path, encoding: str) -> None:
    words = "カフェ" if encoding == "shift_jis" else "café"
    text = f"delivery_id,created_at,text\n{words},2025-03-01T10:00:00Z,{words}\n"
    mark = "\ufeff" if encoding == "utf-16-le" else ""
    for name, pack in (("a.csv", bytes), ("b.csv.gz", gzip.compress)):
        file = tmp_path / name
        file.write_bytes(pack((mark + text).encode(encoding)))
        if encoding.startswith("utf"):
            place.ingest(file)
        else:
            with pytest.raises(InputError, match=r"is not UTF-8: say encoding = .*'afterwit mapping"):
                place.ingest(file)
            own = ColumnMapping(delivery=("delivery_id",), created_at="created_at", text="text", encoding=encoding)
            place.ingest(file, mapping=own)
    assert [(d.id, d.text) for d in place.deliveries()] == [(words, words)]


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_any_line_end_and_mixed_ones(place: Place, tmp_path: Path, ends: str, last: bool) -> None:
    file = tmp_path / "a.csv"
    rows = ["delivery_id,kind,at", "d,click,2025-03-01T10:00:00Z", "e,click,2025-03-01T10:00:00Z"]
    file.write_bytes((rows[0] + "\n" + ends.join(rows[1:]) + (ends if last else "")).encode())
    assert place.ingest(file).events_new == 2


def test_zstd_and_excel(place: Place, tmp_path: Path) -> None:
    import openpyxl
    import pyarrow

    plain = write_csv(tmp_path / "a.csv", [event(1), event(2)])
    (tmp_path / "b.csv.zst").write_bytes(pyarrow.compress(plain.read_bytes(), codec="zstd", asbytes=True))
    lines = write_jsonl(tmp_path / "c.jsonl", [event(3)])
    (tmp_path / "c.jsonl.zst").write_bytes(pyarrow.compress(lines.read_bytes(), codec="zstd", asbytes=True))
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in ([*event(4), None], list(event(4).values()), list(event(5).values())):
        book.active.append(row)
    book.save(tmp_path / "d.xlsx")
    report = place.ingest(tmp_path / "b.csv.zst", tmp_path / "c.jsonl.zst", tmp_path / "d.xlsx")
    assert (report.events_new, report.rejected) == (5, 0)


TITLES = ["Export of 2025-03-01", "", "# made by a tool", "Report,,,", "Account,acme", "Export;1"]


@pytest.mark.parametrize("title", TITLES)
def test_a_header_in_the_second_line_is_one_clear_line_and_then_the_right_result(
    place: Place, tmp_path: Path, title: str
) -> None:
    file = tmp_path / "a.csv"
    body = "delivery_id,created_at,text,experiment\nd,2025-03-01T10:00:00Z,Hi,x\ne,2025-03-01T10:00:00Z,Ho,x\n"
    file.write_text(title + "\n" + body)
    with pytest.raises(InputError, match=r"header seems to stand in line 2: say skip = 1 in the mapping"):
        place.ingest(file)
    own = ColumnMapping(delivery=("delivery_id",), created_at="created_at", text="text", skip=1)
    assert place.ingest(file, mapping=own).deliveries_new == 2


# Columns and rows


SAME = ["event_id", "delivery_id", "at", "count", "user_id"]


@pytest.mark.parametrize("column", SAME)
def test_a_mapping_that_names_a_column_twice_is_one_line(tmp_path: Path, column: str) -> None:
    text = 'delivery = ["delivery_id"]\nevent = "event_id"\nkind = "{}"\nat = "at"\ncount = "count"\nuser = "user_id"\n'
    (tmp_path / "m.toml").write_text(text.format(column))
    with pytest.raises(InputError, match=f"names the column '{column}' twice") as found:
        ColumnMapping.load(tmp_path / "m.toml")
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    "text",
    [
        'delivery = ["a", "a"]\ncreated_at = "c"',
        'delivery = ["a"]\ncreated_at = "c"\ncontext = ["x", "y", "x"]',
        'delivery = ["a"]\ncreated_at = "c"\ntext = "c"',
        'delivery = ["a"]\ncreated_at = "c"\nobserved_at = "c"\n[counts]\nn = "impression"',
        'delivery = ["a"]\ncreated_at = "c"\ntext = "n"\nfinal = true\n[counts]\nn = "impression"',
    ],
)
def test_every_way_to_name_a_column_twice(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(InputError, match="twice"):
        ColumnMapping.load(tmp_path / "m.toml")


def test_a_column_may_be_text_and_experiment_and_context(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(
        'delivery = ["t", "c"]\ncreated_at = "c"\ntext = "t"\nexperiment = "x"\ncontext = ["x"]'
    )
    assert ColumnMapping.load(tmp_path / "m.toml").experiment == "x"


@pytest.mark.parametrize("column", ["row", "reason", "created", "count", "at", "event_id", "Created", "kind"])
def test_columns_named_as_the_engine_names_its_own(place: Place, tmp_path: Path, column: str) -> None:
    rows = [{"id": n, "c": "2025-03-01T10:00:00Z", column: f"text {n}"} for n in range(2)]
    mapping = ColumnMapping(delivery=("id",), created_at="c", text=column)
    assert place.ingest(write_csv(tmp_path / "a.csv", rows), mapping=mapping).deliveries_new == 2
    assert {d.text for d in place.deliveries()} == {"text 0", "text 1"}


@pytest.mark.parametrize("ids", [("ab", "AB"), ("Straße", "STRASSE"), ("é", "É"), ("x", "X"), ("iI", "Ii")])
def test_ids_that_differ_in_case_alone_are_two(place: Place, tmp_path: Path, ids: tuple[str, str]) -> None:
    base = {"created_at": "2025-03-01T10:00:00Z", "text": "t", "impressions": 5, "clicks": 1}
    for n, write in enumerate((write_csv, write_jsonl, write_parquet)):
        rows = [{"delivery_id": id_, **base} for id_ in ids]
        report = place.ingest(write(tmp_path / f"a.{('csv', 'jsonl', 'parquet')[n]}", rows))
        assert (report.deliveries_new, report.rejected) == ((2, 0) if n == 0 else (0, 0))
    assert {d.id for d in place.deliveries()} == set(ids)


@pytest.mark.parametrize("write", [write_csv, write_jsonl])
def test_columns_that_differ_in_case_alone_are_two(place: Place, tmp_path: Path, write: Any) -> None:
    rows = [{"id": "a", "ID": "b", "c": "2025-03-01T10:00:00Z"}]
    file = write(tmp_path / ("a.csv" if write is write_csv else "a.jsonl"), rows)
    assert place.ingest(file, mapping=ColumnMapping(delivery=("ID",), created_at="c", text="id")).deliveries_new == 1
    assert [(d.id, d.text) for d in place.deliveries()] == [("b", "a")]


def test_three_hundred_columns(place: Place, tmp_path: Path) -> None:
    rows = [{**arm(1), **{f"c{n}": n for n in range(300)}}]
    file = write_csv(tmp_path / "a.csv", rows)
    assert place.ingest(file, mapping="headlines").deliveries_new == 1
    with pytest.raises(InputError) as found:
        place.ingest(file)
    assert len(str(found.value)) < 400
    own = {"delivery_id": "d", "created_at": "2025-03-01T10:00:00Z", **rows[0]}
    with pytest.raises(InputError, match="columns beside Afterwit's own"):
        place.ingest(write_csv(tmp_path / "b.csv", [own]))


@pytest.mark.parametrize("ends", ["\n", ""])
def test_logs_of_one_row_and_of_none(place: Place, tmp_path: Path, ends: str) -> None:
    one, none = tmp_path / "one.csv", tmp_path / "none.csv"
    one.write_text("delivery_id;kind;at\nd;click;2025-03-01T10:00:00Z" + ends)
    none.write_text("delivery_id;kind;at" + ends)
    report = place.ingest(one, none)
    assert (report.rows, report.events_new, report.rejected) == (1, 1, 0)
    assert f"{none} has a header and no rows" in report.summary()


def test_errors_name_the_command_that_helps(place: Place, tmp_path: Path) -> None:
    file = write_csv(tmp_path / "a.csv", [{"id": 1, "when": "x"}])
    for mapping in (None, "headlines"):
        with pytest.raises(InputError, match="afterwit mapping"):
            place.ingest(file, mapping=mapping)
