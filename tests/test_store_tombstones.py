"""Ids may say something: after forgetting, none stands in any file, and what was forgotten stays so."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from afterwit import Memory
from afterwit.compose import import_file
from afterwit.digest.history import read_history
from afterwit.errors import Conflict
from afterwit.model import Credit, Refusal
from afterwit.ports import HashEmbedder
from round_cases import SCOPE, know, open_memory, tell, trials
from store_cases import aged, bytes_of, card, commit, edit, round_

SPEAKING = [
    "ana.zanzibar@example.org",
    "+49 30 zanzibar 1234567",
    "https://shop.example/zanzibar?u=7&token=4711",
    'Zoë "Zanzibar" Müller/2026',
    "zanzibar-Straße 5, 10115 Berlin",
    "C:\\users\\zanzibar",
]


def held(folder: Path) -> bytes:
    """All bytes of a memory's files; escaped JSON too."""
    return bytes_of(folder).lower()


def row(id_: str, clicks: int = 3) -> dict[str, Any]:
    return {
        "delivery_id": id_,
        "created_at": "2026-01-01T00:00:00Z",
        "text": "Films?",
        "experiment": "t",
        "impressions": 100,
        "clicks": clicks,
    }


@pytest.mark.parametrize("id_", SPEAKING)
def test_the_id_of_a_forgotten_delivery_stands_in_no_file_and_its_log_stays_unread(tmp_path: Path, id_: str) -> None:
    with open_memory(tmp_path) as memory:
        with memory.episode("push", id="e1") as episode:
            episode.output("Films?")
            episode.deliver(id_)
        tell(memory, [row(id_), row(f"{id_}0"), row("other")])
        cited = card("a", scope=SCOPE, cases=(id_, "other"))
        left = Refusal(subject=f"2 items, such as {id_}", verdict="waiting", reason=f"{id_} is still open")
        commit(memory._store, round_("r1", 0, edit("e", "admit", cited), refused=(left,), scope=SCOPE))
        done = memory.forget(delivery_id=id_)
        assert done.deliveries == 1
        assert done.tombstones == (f"delivery:{id_}",)
        again = tell(memory, [row(id_), row("other")])
        assert (again.rejected, again.deliveries_new, again.events_new) == (1, 0, 0)
        assert {delivery.id for delivery in memory._store.deliveries(SCOPE)} == {f"{id_}0", "other"}
        assert memory.forget(delivery_id=id_).deliveries == 0  # again is no error
        assert memory.check() == ()
        memory.forget(delivery_id=f"{id_}0")
    assert b"zanzibar" not in held(tmp_path)


@pytest.mark.parametrize("id_", SPEAKING)
def test_the_id_of_a_forgotten_episode_stands_in_no_file_and_is_not_recorded_again(tmp_path: Path, id_: str) -> None:
    with open_memory(tmp_path) as memory:
        with memory.episode("push", id=id_) as episode:
            episode.recall()
            episode.output("Films?")
            episode.deliver("d1")
        cited = card("a", scope=SCOPE, cases=(id_, "other"))
        credit = Credit(id="k", episode_id=id_, card_id="a", decision="d", weight=1, kind="sole", reason="so")
        commit(memory._store, round_("r1", 0, edit("e", "admit", cited), credits=(credit,), scope=SCOPE))
        assert b"zanzibar" in held(tmp_path)
        memory.forget(episode_id=id_)
        with pytest.raises(Conflict, match="was forgotten"):
            memory.episode("push", id=id_).close()
        assert memory.check() == ()
        assert len(memory.cards()[0].cases) == 2
    assert b"zanzibar" not in held(tmp_path)


@pytest.mark.parametrize("id_", SPEAKING)
def test_the_name_of_a_forgotten_user_stands_in_no_file(tmp_path: Path, id_: str) -> None:
    log = tmp_path / "history.jsonl"
    log.write_text(json.dumps({"at": "2026-01-01T00:00:00Z", "item_id": "i1", "title": "Shoes", "kind": "click"}))
    with open_memory(tmp_path) as memory:
        memory.profile(id_).read(read_history(log))
        assert memory.forget(user=id_).profiles >= 1
        assert memory.forget(user=id_).profiles == 0
    assert b"zanzibar" not in held(tmp_path)


def test_forgetting_travels_with_an_export(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        know(memory, trials(1))
        memory.forget(delivery_id="d0-0")
        memory.export(tmp_path / "one.jsonl")
    (tmp_path / "copy").mkdir()
    import_file(tmp_path / "copy" / "memory.db", tmp_path / "one.jsonl")
    with open_memory(tmp_path / "copy") as copy:
        assert tell(copy, [row("d0-0")]).rejected == 1
        copy.export(tmp_path / "two.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    assert b"d0-0" not in (tmp_path / "one.jsonl").read_bytes()


def test_two_ledgers_do_not_mark_one_id_alike(tmp_path: Path) -> None:
    marks = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with open_memory(tmp_path / name) as memory:
            know(memory, trials(1))
            memory.forget(delivery_id="d0-0")
        with sqlite3.connect(tmp_path / name / "memory.db") as database:
            marks += database.execute("SELECT id FROM tombstones").fetchall()
        database.close()
    assert marks[0] != marks[1]
    assert all(len(mark) == 64 for (mark,) in marks)


def test_tombstones_of_an_older_release_lose_their_ids_and_still_hold(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        know(memory, trials(1))
        memory.export(tmp_path / "now.jsonl")
    database = aged(tmp_path / "memory.db", "0004")
    database.execute("INSERT INTO tombstones VALUES (?, 'delivery', ?, 0)", (SCOPE, SPEAKING[0]))
    database.commit()
    database.close()
    with open_memory(tmp_path) as memory:
        assert tell(memory, [row(SPEAKING[0])]).rejected == 1
    assert b"zanzibar" not in held(tmp_path)


def test_an_export_of_an_older_release_is_read_and_its_tombstones_hold(tmp_path: Path) -> None:
    embed = HashEmbedder()
    header = {"afterwit": 1, "embedder": embed.name, "dimensions": embed.dimensions, "scope": SCOPE, "lines": 1}
    tombstone = {"line": "tombstone", "kind": "delivery", "id": SPEAKING[0], "at": 0}
    old = tmp_path / "old.jsonl"
    old.write_text("\n".join(map(json.dumps, (header, tombstone))))
    import_file(tmp_path / "memory.db", old)
    old.unlink()
    with Memory(tmp_path / "memory.db", scope=SCOPE, embedder=embed) as memory:
        assert tell(memory, [row(SPEAKING[0])]).rejected == 1
    assert b"zanzibar" not in held(tmp_path)
