"""A ledger on PostgreSQL: many writers, clients and servers killed, other schemas, what its text cannot hold."""

import json
import random
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import inspect, make_url, text

from afterwit import Memory
from afterwit.compose import open_place
from afterwit.errors import Conflict, InputError, StoreError
from afterwit.model import Delivery, Episode
from afterwit.ports import HashEmbedder
from afterwit.store import migrate
from afterwit.store.database import Database
from afterwit.store.dialects import Postgres
from afterwit.store.open import open_store
from postgres_cases import Cluster
from store_cases import NOON, card, commit, edit, opened, retired, round_
from test_store_file import DYING, STEADY, WRITER, python

SCOPE = "acme/push"


def test_field_reports_5_and_15_eight_writers_at_once_all_succeed(cluster: Cluster) -> None:
    url = cluster.new()
    running = [python(WRITER, url, me) for me in range(8)]
    for process in running:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    store = open_store(url)
    assert len(list(store.deliveries(SCOPE))) == 80
    bank = store.bank(SCOPE, "content")
    assert bank.version == 80
    said = [c.guidance for c in bank.cards]
    assert len(said) == len(set(said)) == 10 + 80
    assert store.check(SCOPE) == ()
    store.close()


def test_a_round_that_dies_at_any_statement_leaves_the_old_bank_whole(cluster: Cluster) -> None:
    died = 0
    for moments in ((1, 3, 5, 7), (9, 11, 13, 15), (17, 19, 21, 99)):
        running = []
        for at in moments:
            url = cluster.new()
            store = opened(open_store(url))
            commit(store, round_("r1", 0, edit("e1", "admit", card("a"), card("b"))))
            store.close()
            running.append((url, python(DYING, url, at)))
        for url, process in running:
            _, errors = process.communicate(timeout=60)
            assert process.returncode in (0, 9), errors
            store = open_store(url)
            bank = store.bank(SCOPE, "content")
            found = (bank.version, [c.id for c in bank.cards], [r.id for r in store.rounds(SCOPE)])
            assert found == ((1, ["a", "b"], ["r1"]) if process.returncode else (2, ["c"], ["r2", "r1"]))
            assert store.check(SCOPE) == ()
            store.close()
            died += process.returncode == 9
    assert died >= 8


def test_kill_9_at_random_moments_loses_no_acknowledged_commit_and_tears_none(cluster: Cluster) -> None:
    url = cluster.new()
    opened(open_store(url)).close()
    seeded = random.Random(13)
    for _ in range(4):
        process = python(STEADY, url)
        assert process.stdout
        first = process.stdout.readline()
        time.sleep(seeded.uniform(0.02, 0.15))
        process.send_signal(signal.SIGKILL)
        rest, errors = process.communicate(timeout=30)
        printed = [int(line) for line in (first + rest).split("\n")[:-1]]
        assert printed, errors
        store = open_store(url)
        store.bank_version(SCOPE, "content")
        bank = store.bank(SCOPE, "content")
        assert bank.version >= printed[-1]
        assert len({c.id.split("-")[0] for c in bank.cards}) == 1  # of one round
        assert store.check(SCOPE) == ()
        store.close()


def test_a_server_that_was_killed_and_restarted_has_every_acknowledged_commit(
    cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cluster = Cluster(tmp_path_factory.mktemp("pg"))  # not the one that other tests use
    store = opened(open_store(cluster.new()))
    commit(store, round_("r1", 0, edit("e1", "admit", card("a"))))
    cluster.stop(signal.SIGQUIT)  # at once, without a checkpoint
    with pytest.raises(StoreError, match=r"check that the server runs|broke") as caught:
        commit(store, round_("r2", 1, edit("e2", "admit", card("b"))))
    assert "\n" not in str(caught.value)
    cluster.start()
    assert [c.id for c in store.bank(SCOPE, "content").cards] == ["a"]
    commit(store, round_("r2", 1, edit("e2", "admit", card("b"))))  # the pool has noticed
    assert store.check(SCOPE) == ()
    store.close()
    cluster.stop()


def test_of_two_rounds_planned_on_one_version_one_is_applied(cluster: Cluster) -> None:
    store = opened(open_store(cluster.new()))
    refused: list[str] = []
    gate = threading.Barrier(8)

    def plan(n: int) -> None:
        gate.wait()
        try:
            commit(store, round_(f"r{n}", 0, edit(f"e{n}", "admit", card(f"c{n}"))))
        except Conflict as error:
            refused.append(str(error))

    threads = [threading.Thread(target=plan, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 7
    assert len(store.bank(SCOPE, "content").cards) == store.bank_version(SCOPE, "content") == 1
    store.close()


def test_writers_of_the_same_deliveries_and_episodes_in_any_order_neither_wait_nor_differ(cluster: Cluster) -> None:
    store = opened(open_store(cluster.new()))
    batch = [Delivery(id=f"d{n}", scope=SCOPE, created_at=NOON, context={f"f{n % 9}": 1}) for n in range(300)]
    episode = Episode(id="e", scope=SCOPE, task="t", started_at=NOON)
    new: list[int] = []
    failed: list[Exception] = []

    def write(seed: int) -> None:
        try:
            new.append(store.save_deliveries(random.Random(seed).sample(batch, len(batch))))
            store.save_episode(episode)
            store.save_episode(replace(episode, output="done"))
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {str(e) for e in failed} <= {"episode e is closed and differs from this one: record it under a new id"}
    assert sum(new) == 300
    assert list(store.episodes(SCOPE)) == [replace(episode, output="done")]
    store.close()


def test_a_new_ledger_is_what_all_migrations_make_of_nothing(cluster: Cluster) -> None:
    def schema(database: Database) -> object:
        with database.reading() as connection:
            found = inspect(connection)
            tables = sorted(found.get_table_names())
            columns = text(
                "SELECT attrelid::regclass, attname, atttypid::regtype, attnotnull, attcollation::regcollation, "
                "attstattarget FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE attnum > 0 "
                "AND relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1, 2"
            )
            indexes = text("SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1")
            keys = {t: sorted(map(str, found.get_foreign_keys(t))) for t in tables}
            return sorted(map(str, connection.execute(columns))), list(connection.scalars(indexes)), keys

    quick = open_store(cluster.new()).database
    cluster.execute("CREATE DATABASE slow")
    slow = Database(Postgres(make_url(cluster.url("slow"))))
    with slow.writing() as connection:
        migrate.upgrade(connection)
        slow.dialect.settle(connection)
    assert schema(quick) == schema(slow)
    quick.close()
    slow.close()


def test_order_and_export_do_not_depend_on_the_databases_locale(cluster: Cluster) -> None:
    cluster.execute("CREATE DATABASE icu TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'")
    store, plain = open_store(cluster.url("icu")), open_store(":memory:")
    for one in (store, plain):
        opened(one)
        commit(one, round_("r1", 0, edit("e1", "admit", *(card(i) for i in ("a", "B", "c", "D", "ä", "Z", "_")))))
        one.save_deliveries([Delivery(id=i, scope=SCOPE, created_at=NOON) for i in ("x", "Y", "z", "é")])
    assert list(store.export(SCOPE)) == list(plain.export(SCOPE))
    store.close()
    plain.close()


def test_what_a_column_cannot_hold_is_the_callers_error(cluster: Cluster) -> None:
    store = opened(open_store(cluster.new()))
    # Random, since PostgreSQL compresses what it indexes.
    long = "".join(chr(0x4E00 + random.Random(n).randrange(20_000)) for n in range(5_000))
    for bad in ("a\x00b", long, "\ud800"):
        with pytest.raises(InputError) as caught:
            store.save_deliveries([Delivery(id=bad, scope=SCOPE, created_at=NOON)])
        assert "\n" not in str(caught.value)
    store.save_deliveries([Delivery(id="d", scope=SCOPE, created_at=NOON, text="a\x00b")])
    assert next(iter(store.deliveries(SCOPE))).text == "a\x00b"
    store.close()


def test_other_databases_are_no_ledger_and_no_error_tells_the_password(cluster: Cluster) -> None:
    cluster.execute("CREATE DATABASE foreign_one")
    cluster.execute("CREATE TABLE songs (title text)", "foreign_one")
    with pytest.raises(StoreError, match="something else"):
        open_store(cluster.url("foreign_one"))
    with pytest.raises(StoreError, match="does not exist"):
        open_store(cluster.url("nowhere"))
    with pytest.raises(StoreError, match="check that the server runs") as caught:
        open_store("postgresql://me:secret@127.0.0.1:1/memory")
    assert "secret" not in str(caught.value)
    url = cluster.new()
    with (store := open_store(url)).database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0999'"))
    store.close()
    with pytest.raises(StoreError, match="newer release"):
        open_store(url)


def test_forgetting_says_so_where_an_old_snapshot_keeps_the_text(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("afterwit.store.dialects.BUSY_SECONDS", 0.2)
    store = opened(open_store(cluster.new()))
    commit(store, round_("r1", 0, edit("e1", "add", card("a"))))
    with store.database.reading() as reader:
        reader.execute(text("SELECT count(*) FROM cards"))
        with pytest.raises(StoreError, match="another session still reads an old snapshot: close it and forget again"):
            store.forget(SCOPE, card_id="a")
    assert store.forget(SCOPE, card_id="a").cards == 0
    assert store.bank(SCOPE, "content").cards == ()
    store.close()


def test_rounds_do_not_wait_for_recording(cluster: Cluster) -> None:
    url = cluster.new()
    store, other = opened(open_store(url)), open_store(url)
    commit(store, round_("r1", 0, edit("e1", "admit", card("a"))))
    with store.database.writing() as connection:
        connection.execute(text("SELECT 1 FROM scopes FOR NO KEY UPDATE"))  # a round in the middle
        other.record_recall(SCOPE, "e", (), NOON)
        other.save_deliveries([Delivery(id="d", scope=SCOPE, created_at=NOON)])
        assert len(other.bank(SCOPE, "content").cards) == 1
    commit(other, round_("r2", 1, edit("e2", "evict", retired(card("a")))))
    store.close()
    other.close()


def test_a_memory_on_postgres_serves_learns_and_needs_a_folder_for_events_alone(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = cluster.new()
    log = tmp_path / "log.jsonl"
    shown = {"event_id": "e1", "delivery_id": "d1", "kind": "click", "at": NOON.isoformat()}
    log.write_text(json.dumps(shown))
    with Memory(url, scope="acme/push", embedder=HashEmbedder()) as memory:
        with memory.episode("a push", candidates=("Half price?", "Read on")) as episode:
            episode.output("Half price?")
            episode.deliver("d1")
        with pytest.raises(InputError, match="AFTERWIT_EVENTS"):
            memory.ingest(log)
        assert not list(tmp_path.glob("*.rejects.jsonl"))
    sign = "&" if "?" in url else "?"
    with Memory(f"{url}{sign}events={tmp_path}/events", scope="acme/push", embedder=HashEmbedder()) as memory:
        assert memory.ingest(log).events_new == 1
        assert memory.evolve(bank="content").edits == ()
        assert memory.evolve(bank="planning").edits == ()
        memory.add("Ask a question.", key="push")
        assert [c.guidance for c, _ in memory.search("push")] == ["Ask a question."]
        assert memory.forget(delivery_id="d1").deliveries == 1
    monkeypatch.setenv("AFTERWIT_EVENTS", str(tmp_path / "events"))
    with Memory(url, scope="acme/push", embedder=HashEmbedder(), create=False) as memory:
        assert memory.ingest(log).rejected == 1  # the delivery was forgotten, and so is what is said of it


def test_memories_of_one_place_share_it(cluster: Cluster) -> None:
    place = open_place(cluster.new(), embedder=HashEmbedder())
    with Memory(place, scope="a") as one, Memory(place, scope="b") as other:
        one.add("Ask a question.", key="push")
        assert other.search("push") == ()
    with Memory(place, scope="a") as again:
        assert len(again.cards()) == 1
    place.close()
