"""What ingest keeps: formats, mappings, idempotence, order, events before their delivery."""

import gzip
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afterwit.errors import InputError
from afterwit.model import Delivery, Episode
from afterwit.record.mapping import ColumnMapping
from record_cases import SCOPE, Place, arm, event, write_csv, write_jsonl, write_parquet


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    found = Place.at(tmp_path / "place")
    yield found
    found.store.close()


def test_the_three_formats_and_gz_give_the_same_events(tmp_path: Path) -> None:
    rows = [event(1), event(2, kind="Click", count=3, at="2025-03-01T12:30:00+02:00"), event(3, delivery_id="d2é")]
    files = [
        write_jsonl(tmp_path / "a.jsonl", rows),
        write_csv(tmp_path / "a.csv", rows),
        write_parquet(tmp_path / "a.parquet", rows),
    ]
    for plain in files[:2]:
        packed = plain.with_name("packed_" + plain.name + ".gz")
        packed.write_bytes(gzip.compress(plain.read_bytes()))
        files.append(packed)
    seen = []
    for i, file in enumerate(files):
        found = Place.at(tmp_path / str(i))
        report = found.ingest(file)
        assert (report.rows, report.events_new, report.rejected, report.rejects_path) == (3, 3, 0, None)
        seen.append(found.events())
        found.store.close()
    assert all(events == seen[0] for events in seen)
    assert seen[0][1]["at"] == datetime(2025, 3, 1, 10, 30, tzinfo=UTC)
    assert (seen[0][1]["kind"], seen[0][1]["count"]) == ("click", 3)
    assert seen[0][0]["available_at"] == seen[0][0]["at"]
    assert not seen[0][0]["aggregate"]


def test_reading_twice_changes_nothing(place: Place, tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "a.jsonl", [event(1), event(2), event(2)])
    first, again = place.ingest(file), place.ingest(file)
    assert (first.events_new, first.events_known) == (2, 1)
    assert (again.events_new, again.events_known, again.deliveries_new) == (0, 3, 0)
    assert len(place.events()) == 2


def test_a_delivery_that_was_forgotten_stays_so_when_its_log_is_read_again(place: Place, tmp_path: Path) -> None:
    place.store.save_deliveries([Delivery(id="d1", scope=SCOPE, created_at=datetime(2025, 3, 1, tzinfo=UTC))])
    file = write_jsonl(tmp_path / "a.jsonl", [event(1, delivery_id="d1"), event(2, delivery_id="d2")])
    place.ingest(file)
    place.store.forget(SCOPE, delivery_id="d1")
    place.log.forget(SCOPE, ["d1"])
    report = place.ingest(file)
    assert (report.events_new, report.rejected, report.unmatched) == (0, 1, 1)
    assert "its delivery was forgotten" in (report.rejects_path or tmp_path).read_text()
    assert {row["delivery_id"] for row in place.events()} == {"d2"}


def test_globs_and_lists_take_every_file_once(place: Place, tmp_path: Path) -> None:
    for n in range(3):
        write_jsonl(tmp_path / f"part-{n}.jsonl", [event(n)])
    report = place.ingest(tmp_path / "part-*.jsonl", tmp_path / "part-1.jsonl")
    assert (report.files, report.events_new) == (3, 3)


def test_deliveries_with_context_of_their_own_column_names(place: Place, tmp_path: Path) -> None:
    nested = {
        "delivery_id": "a",
        "created_at": "2025-03-01T00:00:00Z",
        "text": "Ça va ?",
        "experiment": "x",
        "propensity": 0.5,
    }
    flat = {"delivery_id": "b", "created_at": "2025-03-01T00:00:00Z", "text": "Hi", "channel": "push"}
    report = place.ingest(
        write_jsonl(tmp_path / "n.jsonl", [{**nested, "context": {"channel": "mail"}}]),
        write_csv(tmp_path / "f.csv", [flat]),
    )
    assert (report.deliveries_new, report.events_new, report.unmatched) == (2, 0, 0)
    a, b = place.deliveries()
    assert (a.text, a.experiment, a.propensity, dict(a.context)) == ("Ça va ?", "x", 0.5, {"channel": "mail"})
    assert dict(b.context) == {"channel": "push"}


def test_events_wait_for_their_delivery(place: Place, tmp_path: Path) -> None:
    """Field report 23: kept as unmatched, counted, matched when the delivery appears."""
    early = place.ingest(write_jsonl(tmp_path / "e.jsonl", [event(1), event(2, delivery_id="d2")]))
    assert (early.events_new, early.unmatched) == (2, 2)
    assert "2 events wait for their delivery" in early.summary()
    late = place.ingest(
        write_jsonl(tmp_path / "d.jsonl", [{"delivery_id": "d1", "created_at": "2025-03-01T00:00:00Z"}])
    )
    assert (late.deliveries_new, late.unmatched) == (1, 1)


def test_headlines_are_aggregates_available_a_week_later(place: Place, tmp_path: Path) -> None:
    report = place.ingest(write_parquet(tmp_path / "h.parquet", [arm(1), arm(2)]), mapping="headlines")
    assert (report.events_new, report.deliveries_new, report.unmatched) == (4, 2, 0)
    created = datetime(2014, 1, 5, 10, tzinfo=UTC)
    for row in place.events():
        assert (row["at"], row["available_at"]) == (created, created + timedelta(days=7))
        assert row["aggregate"]
        assert row["final"]
    one = place.deliveries()[0]
    assert (one.experiment, one.placement, dict(one.context), one.created_at) == ("t1", "i1", {}, created)
    assert {d.text for d in place.deliveries()} == {"Headline 1", "Headline 2"}


def test_arms_alike_in_all_but_counts_are_both_kept_in_any_order(tmp_path: Path) -> None:
    rows = [arm(1), arm(1, impressions=900, clicks=3), arm(1, impressions=900, clicks=4), arm(2)]
    ids = []
    for i, order in enumerate((rows, rows[::-1])):
        found = Place.at(tmp_path / str(i))
        report = found.ingest(write_csv(tmp_path / f"{i}.csv", order), mapping="headlines")
        assert (report.deliveries_new, report.events_new, report.rejected) == (4, 8, 0)
        ids.append({(e["event_id"], e["count"]) for e in found.events()})
        found.store.close()
    assert ids[0] == ids[1]


def test_a_mapping_file_names_the_columns(place: Place, tmp_path: Path) -> None:
    mapping = tmp_path / "own.toml"
    mapping.write_text(
        'delivery = ["creative"]\ncreated_at = "sent"\nobserved_at = "seen"\ncontext = ["Kanal"]\n'
        'timezone = "Europe/Berlin"\n[counts]\nviews = "impression"\ntaps = "click"\n',
        encoding="utf-8",
    )
    row = {
        "creative": "c",
        "sent": "2025-06-01 00:00",
        "seen": "2025-06-03 12:00",
        "Kanal": "Tür",
        "views": 9,
        "taps": 1,
    }
    later = row | {"seen": "2025-06-04 12:00", "views": 12}
    report = place.ingest(write_csv(tmp_path / "a.csv", [row, later]), mapping=mapping)
    assert (report.events_new, report.deliveries_new) == (4, 1)
    first = place.events()[0]
    assert first["at"] == datetime(2025, 5, 31, 22, tzinfo=UTC)
    assert not first["final"]
    assert {e["available_at"].day for e in place.events()} == {3, 4}
    assert dict(place.deliveries()[0].context) == {"Kanal": "Tür"}


def test_a_timezone_given_wins_over_that_of_the_mapping(place: Place, tmp_path: Path) -> None:
    place.ingest(write_csv(tmp_path / "a.csv", [arm(1)]), mapping="headlines", timezone="America/New_York")
    assert place.deliveries()[0].created_at == datetime(2014, 1, 5, 15, tzinfo=UTC)


def test_an_event_may_say_when_it_could_be_known(place: Place, tmp_path: Path) -> None:
    rows = [event(1, available_at="2025-03-09T00:00:00Z"), event(2, available_at="2025-02-01T00:00:00Z")]
    place.ingest(write_jsonl(tmp_path / "a.jsonl", rows))
    late, early = place.events()
    assert late["available_at"] == datetime(2025, 3, 9, tzinfo=UTC)
    assert early["available_at"] == early["at"], "nothing is known before it happens"


def test_what_the_agent_declared_stands_against_the_log(place: Place, tmp_path: Path) -> None:
    at = datetime(2025, 3, 1, tzinfo=UTC)
    place.store.save_episode(Episode(id="ep", scope=SCOPE, task="write", started_at=at))
    place.store.save_deliveries([Delivery(id="d1", scope=SCOPE, created_at=at, text="ours", episode_id="ep")])
    row = {"delivery_id": "d1", "created_at": "2025-03-02T00:00:00Z", "text": "theirs", "impressions": 5, "clicks": 1}
    report = place.ingest(write_jsonl(tmp_path / "a.jsonl", [row]))
    assert (report.deliveries_new, report.rejected, report.events_new) == (0, 0, 2)
    assert place.deliveries()[0].text == "ours"


def test_progress_reaches_its_total(place: Place, tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    files = [write_jsonl(tmp_path / f"{n}.jsonl", [event(n)]) for n in range(2)]
    place.ingest(*files, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(n, 6) for n in range(1, 7)]


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), parts=st.integers(1, 3))
def test_order_splits_and_repeats_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, seed: int, parts: int
) -> None:
    rng = random.Random(seed)
    rows = [
        event(n, delivery_id=f"d{n % 3}", kind=rng.choice(["impression", "click"]), user_id=f"u{n % 4}")
        for n in range(12)
    ]
    whole, split = (Place.at(tmp_path_factory.mktemp("order")) for _ in range(2))
    whole.ingest(write_jsonl(whole.folder / "a.jsonl", rows))
    mixed = [*rows, *rng.sample(rows, 4)]
    rng.shuffle(mixed)
    for n in range(parts):
        split.ingest(write_jsonl(split.folder / f"{n}.jsonl", mixed[n::parts]))
    assert whole.events() == split.events()
    whole.store.close()
    split.store.close()


def test_a_hundred_thousand_events_take_seconds(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    lines = (f"e{n},d{n % 500},impression,2025-03-{1 + n % 28:02d}T10:00:00Z,u{n % 9000}" for n in range(100_000))
    file.write_text("event_id,delivery_id,kind,at,user_id\n" + "\n".join(lines) + "\n", encoding="utf-8")
    began = time.perf_counter()
    report = place.ingest(file)
    assert report.events_new == 100_000
    assert time.perf_counter() - began < 10


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("delivery = []", "delivery"),
        ('delivery = ["a"]\nkind = "k"', "'kind' and 'at'"),
        ('delivery = ["a"]\ncreated_at = "c"\nfinal = true\n[counts]\nx = "click"', "'impression'"),
        ('delivery = ["a"]\ncreated_at = "c"\n[counts]\nx = "impression"', "final = true"),
        ('delivery = ["a"]\nfinal = true\n[counts]\nx = "impression"', "'created_at'"),
        ('delivery = ["a"]\ncolour = "red"', "colour"),
        ("delivery = [", "mapping"),
    ],
)
def test_a_mapping_that_cannot_work_is_refused_in_one_line(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "m.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=says) as found:
        ColumnMapping.load(file)
    assert "\n" not in str(found.value)


def test_an_unknown_mapping_is_refused() -> None:
    with pytest.raises(InputError, match="there is no mapping 'headline'"):
        ColumnMapping.load("headline")
