"""Times as logs have them: Unix times, local times, days, and dates that may be read in two ways."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from afterwit.errors import InputError
from record_cases import Place, event, write_csv, write_jsonl

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)
SECONDS = int(NOON.timestamp())


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    found = Place.at(tmp_path / "place")
    yield found
    found.store.close()


def read(place: Place, *times: Any, **options: Any) -> Any:
    rows = [event(n, at=at) for n, at in enumerate(times)]
    return place.ingest(write_jsonl(place.folder / "a.jsonl", rows), **options)


def at(place: Place) -> list[datetime]:
    return [row["at"] for row in place.events()]


@pytest.mark.parametrize(
    ("value", "unit", "micros"),
    [
        (SECONDS, "seconds", 0),
        (f"{SECONDS}", "seconds", 0),
        (SECONDS + 0.25, "seconds", 250_000),
        (f"{SECONDS}.123456", "seconds", 123_456),
        (SECONDS * 1000, "milliseconds", 0),
        (f"{SECONDS * 1000}.5", "milliseconds", 500),
        (SECONDS * 10**6 + 7, "microseconds", 7),
        (f"{SECONDS * 10**9 + 5000}", "nanoseconds", 5),
    ],
)
def test_unix_times_are_read_and_the_unit_is_told(place: Place, value: Any, unit: str, micros: int) -> None:
    report = read(place, value)
    assert at(place) == [NOON.replace(microsecond=micros)]
    assert report.notes == (f"at is read as Unix time in {unit}",)
    assert report.notes[0] in report.summary()


def test_a_column_that_mixes_units_is_refused_row_by_row(place: Place) -> None:
    report = read(place, SECONDS, SECONDS * 1000, SECONDS + 1, SECONDS * 10**6, "2025-03-01T12:00:00Z", "soon", 2025)
    assert (report.events_new, report.rejected) == (2, 5)
    assert [(line["row"], line["reason"]) for line in place.rejected()] == [
        (2, f"at is in Unix milliseconds where most of the column is Unix seconds: {SECONDS * 1000}"),
        (4, f"at is in Unix microseconds where most of the column is Unix seconds: {SECONDS * 10**6}"),
        (5, "at is a date where most of the column is Unix seconds: 2025-03-01T12:00:00Z"),
        (6, "at is no time: soon"),
        (7, "at is no time: 2025"),
    ]


def test_a_unit_may_be_given(place: Place) -> None:
    assert read(place, 1000.5, 99, time_format="s").events_new == 2
    assert at(place)[0] == datetime(1970, 1, 1, 0, 16, 40, 500_000, tzinfo=UTC)


TWICE = [
    ("Europe/Berlin", "2025-10-26 02:30", datetime(2025, 10, 26, 0, 30, tzinfo=UTC)),
    ("Europe/Berlin", "2025-10-26T02:00:00", datetime(2025, 10, 26, 0, 0, tzinfo=UTC)),
    ("America/New_York", "2025-11-02 01:15", datetime(2025, 11, 2, 5, 15, tzinfo=UTC)),
    ("Europe/London", "2024-10-27 01:59:59", datetime(2024, 10, 27, 0, 59, 59, tzinfo=UTC)),
    ("Australia/Lord_Howe", "2025-04-06 01:45", datetime(2025, 4, 5, 14, 45, tzinfo=UTC)),
    ("America/Caracas", "2007-12-09 02:45", datetime(2007, 12, 9, 6, 45, tzinfo=UTC)),
]


@pytest.mark.parametrize(("zone", "text", "moment"), TWICE)
def test_of_a_local_time_that_comes_twice_the_first_is_taken_and_named(
    place: Place, zone: str, text: str, moment: datetime
) -> None:
    report = read(place, "2025-06-01 12:00", text, timezone=zone)
    assert at(place)[1] == moment
    (note,) = report.notes
    assert f"1 times of at fall in an hour that {zone} has twice, such as {text} in row 2" in note


NEVER = [
    ("Europe/Berlin", "2025-03-30 02:30"),
    ("Europe/Berlin", "2025-03-30 02:00:00"),
    ("America/New_York", "2025-03-09T02:59"),
    ("Australia/Lord_Howe", "2025-10-05 02:10"),
    ("Pacific/Apia", "2011-12-30 12:00"),
    ("America/Sao_Paulo", "2018-11-04 00:30"),
]


@pytest.mark.parametrize(("zone", "text"), NEVER)
def test_a_local_time_that_never_was_is_refused(place: Place, zone: str, text: str) -> None:
    report = read(place, "2025-06-01 12:00", text, timezone=zone)
    assert (report.events_new, report.rejected) == (1, 1)
    assert place.rejected()[0]["reason"] == f"at never was in {zone}: {text}"


@pytest.mark.parametrize("text", ["2025-03-30 01:59", "2025-03-30 03:00", "2025-10-26 01:59", "2025-10-26 03:00"])
def test_the_minutes_beside_a_change_of_clocks_are_plain(place: Place, text: str) -> None:
    report = read(place, text, timezone="Europe/Berlin")
    assert (report.events_new, report.notes) == (1, ())


AMBIGUOUS = ["03/04/2025", "03/04/2025 10:00", "3.4.2025", "25-12-2025 08:15:00", "03/04/25 1:00"]


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_day_first_or_month_first_needs_a_format(place: Place, text: str) -> None:
    with pytest.raises(InputError, match="day-first or month-first: pass --time-format") as found:
        read(place, text, text)
    assert "\n" not in str(found.value)
    assert place.events() == []


@pytest.mark.parametrize(
    ("text", "form", "moment"),
    [
        ("03/04/2025 10:00", "%d/%m/%Y %H:%M", datetime(2025, 4, 3, 10, tzinfo=UTC)),
        ("03/04/2025 10:00", "%m/%d/%Y %H:%M", datetime(2025, 3, 4, 10, tzinfo=UTC)),
        ("3.4.2025", "%d.%m.%Y", datetime(2025, 4, 3, tzinfo=UTC)),
        ("20250304101500", "%Y%m%d%H%M%S", datetime(2025, 3, 4, 10, 15, tzinfo=UTC)),
        ("01/Mar/2025:10:15:00 +0200", "%d/%b/%Y:%H:%M:%S %z", datetime(2025, 3, 1, 8, 15, tzinfo=UTC)),
    ],
)
def test_a_format_is_followed(place: Place, text: str, form: str, moment: datetime) -> None:
    assert read(place, text, time_format=form, timezone="UTC").events_new == 1
    assert at(place) == [moment]


@pytest.mark.parametrize("form", ["", "DD/MM/YYYY", "%Q", "minutes", "%"])
def test_a_format_that_is_none_is_refused(place: Place, form: str) -> None:
    if form:
        with pytest.raises(InputError, match="is no time format"):
            read(place, "03/04/2025", time_format=form)


@pytest.mark.parametrize("text", ["Saturday", "10:15", "Q1 2025", "2025/03/01", "1 March 2025"])
def test_a_column_without_times_is_one_line(place: Place, text: str) -> None:
    with pytest.raises(InputError, match="no value of at is a time"):
        read(place, text, text)


def test_days_are_midnight_in_the_zone_told_once(place: Place) -> None:
    files = [write_jsonl(place.folder / f"{n}.jsonl", [event(n, at="2025-06-01")]) for n in range(3)]
    report = place.ingest(*files, timezone="Europe/Berlin")
    assert at(place) == [datetime(2025, 5, 31, 22, tzinfo=UTC)] * 3
    assert report.notes == ("at holds dates without time: midnight in Europe/Berlin",)


def test_a_day_whose_midnight_never_was_begins_with_its_first_moment(place: Place) -> None:
    read(place, "2018-11-04", timezone="America/Sao_Paulo")
    assert at(place) == [datetime(2018, 11, 4, 3, tzinfo=UTC)]


COUNTS = [("1,000", ","), ("1.000", "."), ("12 345", " "), ("1'234'567", "'"), ("12\u202f345", " "), ("1_000", "_")]


@pytest.mark.parametrize(("text", "mark"), COUNTS)
def test_thousands_separators_need_the_mappings_word(place: Place, tmp_path: Path, text: str, mark: str) -> None:
    file = write_csv(tmp_path / "a.csv", [{"d": "a", "c": "2025-03-01T00:00:00Z", "n": text}])
    body = 'delivery = ["d"]\ncreated_at = "c"\nfinal = true\n{}\n[counts]\nn = "impression"\n'
    mapping = tmp_path / "m.toml"
    mapping.write_text(body.format(""))
    assert place.ingest(file, mapping=mapping).rejected == 1
    assert "may have thousands separators" in place.rejected()[0]["reason"]
    mapping.write_text(body.format(f'thousands = "{mark}"'))
    assert place.ingest(file, mapping=mapping).events_new == 1
    digits = int("".join(c for c in text if c.isdigit()))
    assert [row["count"] for row in place.events()] == [digits]


@pytest.mark.parametrize("text", ["1,00", "1,0000", "1.000", "1000,5", "one"])
def test_a_number_grouped_otherwise_is_refused(place: Place, tmp_path: Path, text: str) -> None:
    file = write_csv(tmp_path / "a.csv", [{"d": "a", "c": "2025-03-01T00:00:00Z", "n": text}])
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        'delivery = ["d"]\ncreated_at = "c"\nfinal = true\nthousands = ","\n[counts]\nn = "impression"\n'
    )
    report = place.ingest(file, mapping=mapping)
    assert report.rejected == (0 if text == "1.000" else 1)
