"""A ledger on a real disk: many processes, crashes at any moment, full and read-only places, other releases."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import text

from afterwit.errors import InputError, StoreError
from afterwit.store import migrate
from afterwit.store.database import Database
from afterwit.store.dialects import Sqlite
from afterwit.store.open import open_store
from store_cases import card, commit, edit, opened, retired, round_

SCOPE = "acme/push"
HERE = Path(__file__).parent


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=HERE
    )


WRITER = """
import sys
from store_cases import *
from afterwit.model import Delivery, Provenance
from afterwit.store.open import open_store
path, me = sys.argv[1:]
store = opened(open_store(path))
hand = Provenance(operator="add")
for n in range(10):
    store.save_deliveries([Delivery(id=f"{me}-{n}", scope="acme/push", created_at=NOON)])
    store.record_recall("acme/push", f"{me}-{n}", (), NOON)
    version = store.bank_version("acme/push", "content")
    both = [edit(f"{me}-{n}-{k}", "add", card(f"{me}-{n}-{k}", say, provenance=hand))
            for k, say in enumerate((f"thought {n}", f"of {me}: {n}"))]
    commit(store, round_(f"{me}-{n}", version, *both))
"""


def test_field_reports_5_and_15_eight_writers_on_one_new_file_all_succeed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    running = [python(WRITER, path, me) for me in range(8)]
    for process in running:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    store = open_store(path)
    assert len(list(store.deliveries(SCOPE))) == 80
    bank = store.bank(SCOPE, "content")
    assert bank.version == 80
    said = [c.guidance for c in bank.cards]
    assert len(said) == len(set(said)) == 10 + 80  # what all of them thought is one card each
    assert store.check(SCOPE) == ()
    store.close()


DYING = """
import os, sys
from sqlalchemy import event
from store_cases import *
from afterwit.store.open import open_store
store = open_store(sys.argv[1])
left = int(sys.argv[2])
@event.listens_for(store.database.engine, "commit")
@event.listens_for(store.database.engine, "before_cursor_execute")
def die(*_):
    global left
    left -= 1
    if left == 0:
        os._exit(9)
new = edit("e2", "merge", card("c"), retired(card("a")), retired(card("b")), parents=("a", "b"))
commit(store, round_("r2", 1, new))
"""


def test_a_round_that_dies_at_any_statement_leaves_the_old_bank_whole(tmp_path: Path) -> None:
    original = tmp_path / "original"
    original.mkdir()
    store = opened(open_store(original / "memory.db"))
    commit(store, round_("r1", 0, edit("e1", "admit", card("a"), card("b"))))
    store.close()
    died = 0
    for moments in ((2, 4, 6, 8), (10, 11, 12, 13), (14, 15, 16, 17), (18, 99)):
        running = []
        for at in moments:
            folder = tmp_path / str(at)
            shutil.copytree(original, folder)
            running.append((folder, python(DYING, folder / "memory.db", at)))
        for folder, process in running:
            _, errors = process.communicate(timeout=60)
            assert process.returncode in (0, 9), errors
            store = open_store(folder / "memory.db")
            old, new = (1, ["a", "b"], ["r1"]), (2, ["c"], ["r2", "r1"])
            bank = store.bank(SCOPE, "content")
            found = (bank.version, [c.id for c in bank.cards], [r.id for r in store.rounds(SCOPE)])
            assert found == (old if process.returncode else new)
            assert store.check(SCOPE) == ()
            store.close()
            died += process.returncode == 9
    assert died >= 10  # the moments lie inside the commit


STEADY = """
import sys
from store_cases import *
from afterwit.store.open import open_store
store = open_store(sys.argv[1])
version = store.bank_version("acme/push", "content")
while True:
    old = store.bank("acme/push", "content").cards
    new = [card(f"{version}-{k}") for k in range(3)]
    swap = edit(f"e{version}", "merge", *new, *map(retired, old), parents=tuple(c.id for c in old))
    version = commit(store, round_(f"r{version}", version, swap))
    print(version, flush=True)
"""


def test_kill_9_at_random_moments_loses_no_acknowledged_commit_and_tears_none(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    opened(open_store(path)).close()
    seeded = random.Random(13)
    acknowledged = 0
    for _ in range(4):
        process = python(STEADY, path)
        assert process.stdout
        first = process.stdout.readline()
        time.sleep(seeded.uniform(0.02, 0.15))
        process.send_signal(signal.SIGKILL)
        rest, errors = process.communicate(timeout=30)
        printed = [int(line) for line in (first + rest).split("\n")[:-1]]
        assert printed, errors
        store = open_store(path)
        bank = store.bank(SCOPE, "content")
        assert bank.version in (printed[-1], printed[-1] + 1)
        assert len(bank.cards) == 3
        assert len({c.id.split("-")[0] for c in bank.cards}) == 1  # of one round
        assert store.check(SCOPE) == ()
        store.close()
        acknowledged += len(printed)
    assert acknowledged >= 4


def test_a_full_disk_is_one_line_and_changes_nothing(tmp_path: Path) -> None:
    store = opened(open_store(tmp_path / "memory.db"))
    commit(store, round_("r1", 0, edit("e1", "admit", card("a"))))
    with store.database.reading() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    big = round_("r2", 1, edit("e2", "admit", card("b", "word " * 30_000)))
    roomy = type("", (), {"cards": 9, "tokens": 10**6})()
    with pytest.raises(StoreError, match=r"memory\.db: .* is full; nothing was changed") as caught:
        commit(store, big, roomy)
    assert "\n" not in str(caught.value)
    assert [c.id for c in store.bank(SCOPE, "content").cards] == ["a"]
    assert store.check(SCOPE) == ()
    store.close()


def test_places_that_cannot_be_written_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file" / "memory.db", tmp_path / "missing" / "memory.db", Path("/proc/memory.db")):
        with pytest.raises(StoreError, match="check that its folder exists") as caught:
            open_store(place)
        assert "\n" not in str(caught.value)


def test_a_read_only_ledger_is_read_and_not_written(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = opened(open_store(path))
    commit(store, round_("r1", 0, edit("e1", "admit", card("a"))))
    with store.database.reading() as connection:
        connection.exec_driver_sql("PRAGMA query_only=ON")  # holds for root too, unlike file modes
    assert len(store.bank(SCOPE, "content").cards) == 1
    with pytest.raises(StoreError, match="check who may write"):
        commit(store, round_("r2", 1, edit("e2", "evict", retired(card("a")))))
    store.close()


def test_a_locked_ledger_says_so(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = opened(open_store(path))
    with store.database.reading() as connection:
        connection.exec_driver_sql("PRAGMA busy_timeout=10")
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked; another process"):
        store.record_recall(SCOPE, "e", (), card("a").created_at)
    holder.close()
    store.close()


def test_other_files_are_no_ledger(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("not a database at all, but long enough to have a header" * 50)
    with pytest.raises(StoreError, match="not a database"):
        open_store(tmp_path / "text.db")
    with sqlite3.connect(tmp_path / "foreign.db") as other:
        other.execute("CREATE TABLE songs (title)")
    other.close()
    with pytest.raises(StoreError, match="something else"):
        open_store(tmp_path / "foreign.db")
    with pytest.raises(InputError, match="postgresql://"):
        open_store("mysql://localhost/memory")


def test_a_ledger_of_a_newer_release_asks_for_an_upgrade_and_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = opened(open_store(path))
    with store.database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0999'"))
    store.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="newer release: pip install --upgrade afterwit"):
        open_store(path)
    assert path.read_bytes() == before


def test_a_new_ledger_is_what_all_migrations_make_of_nothing(tmp_path: Path) -> None:
    def schema(database: Database) -> dict[str, tuple[object, ...]]:
        """Columns, keys and indexes as the database itself tells them."""
        found: dict[str, tuple[object, ...]] = {}
        with database.reading() as connection:
            tables = connection.scalars(text("SELECT name FROM sqlite_master WHERE type = 'table'")).all()
            for table in tables:
                parts = []
                for pragma in ("table_info", "foreign_key_list", "index_list"):
                    rows = connection.exec_driver_sql(f"PRAGMA {pragma}({table})").all()
                    parts.append(sorted(map(str, (tuple(row)[1:] for row in rows))))
                found[table] = tuple(parts)
            named = connection.scalars(text("SELECT name || sql FROM sqlite_master WHERE type = 'index' AND sql > ''"))
            found["indexes"] = tuple(sorted(" ".join(sql.split()) for sql in named))
        return found

    quick = open_store(tmp_path / "quick.db").database
    slow = Database(Sqlite(tmp_path / "slow.db"))
    with slow.writing() as connection:
        migrate.upgrade(connection)
    assert schema(quick) == schema(slow)
    with slow.reading() as connection:
        assert migrate.version(connection) == migrate.HEAD
    config = Config()
    config.set_main_option("script_location", str(Path(migrate.__file__).with_name("migrations")))
    assert ScriptDirectory.from_config(config).get_current_head() == migrate.HEAD
    quick.close()
    slow.close()


def test_opening_is_fast_and_durable_settings_are_on(tmp_path: Path) -> None:
    start = time.perf_counter()
    store = open_store(f"sqlite:///{tmp_path}/memory.db")
    assert time.perf_counter() - start < 0.15
    with store.database.reading() as connection:
        found = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "secure_delete", "busy_timeout", "synchronous")
        ]
    assert found == ["wal", 1, 1, 30_000, 1]
    store.close()
