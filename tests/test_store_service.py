"""Keys, answers and pages of a service, on both databases."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from afterwit import Memory
from afterwit.errors import Conflict, NotFound
from afterwit.model import Answered, Episode, Key
from afterwit.ports import HashEmbedder
from afterwit.store.open import open_store
from afterwit.store.service import SqlKeys, SqlReplies
from afterwit.store.sql import SqlStore
from store_cases import DAY, NOON, card, commit, edit, opened, round_

SCOPE = "acme/push"
KEY = Key(id="k1", name="agent", scopes=("acme/*",), roles=("recall",), hash="h", created_at=NOON)


@pytest.fixture(params=["file", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlStore]:
    file = request.param == "file"
    made = open_store(tmp_path / "memory.db" if file else request.getfixturevalue("cluster").new())
    opened(made, SCOPE, "other/scope")
    yield made
    made.close()


def test_keys_reach_their_scopes_and_roles_alone() -> None:
    assert KEY.reaches("acme/push")
    assert not any(KEY.reaches(scope) for scope in ("acme", "acmeb/push", "other/acme/", ""))
    assert replace(KEY, scopes=("acme",)).reaches("acme")
    assert not replace(KEY, scopes=("acme",)).reaches("acme/push")
    assert replace(KEY, scopes=("*",)).reaches("anything")
    assert KEY.allows("recall")
    assert not KEY.allows("record")
    assert not replace(KEY, revoked_at=NOON).allows("recall")


def test_keys_are_kept_changed_and_listed(store: SqlStore) -> None:
    keys = SqlKeys(store.database)
    other = replace(KEY, id="k0", name="o")
    keys.add(KEY)
    keys.add(other)
    assert keys.find("k1") == KEY
    assert keys.find("nobody") is None
    keys.change(replace(KEY, revoked_at=NOON))
    assert keys.all() == (other, replace(KEY, revoked_at=NOON))
    with pytest.raises(NotFound, match="no key nobody"):
        keys.change(replace(KEY, id="nobody"))


def test_a_request_is_worked_on_once_and_its_answer_given_again(store: SqlStore) -> None:
    kept = SqlReplies(store.database)
    assert kept.begin(SCOPE, "k1", "x", "f", NOON) is None
    assert kept.begin(SCOPE, "k1", "x", "f", NOON) == Answered(fingerprint="f", at=NOON)  # still at work
    done = Answered(fingerprint="f", at=NOON, status=201, media="application/json", body='{"é":1}')
    kept.finish(SCOPE, "k1", "x", done)
    assert kept.begin(SCOPE, "k1", "x", "f", NOON + DAY) == done
    assert kept.begin(SCOPE, "k1", "x", "other", NOON + DAY) == done
    assert kept.begin(SCOPE, "k2", "x", "f", NOON) is None  # of another caller
    assert kept.begin("other/scope", "k1", "x", "f", NOON) is None
    kept.finish(SCOPE, "k2", "x", None)
    assert kept.begin(SCOPE, "k2", "x", "f", NOON) is None  # it failed, so it may be tried again
    assert kept.expire(NOON + DAY) == 3
    assert kept.begin(SCOPE, "k1", "x", "f", NOON) is None


def test_what_a_dead_process_began_is_taken_over(store: SqlStore) -> None:
    kept = SqlReplies(store.database)
    assert kept.begin(SCOPE, "k1", "x", "f", NOON) is None
    later = NOON + timedelta(minutes=2)
    assert kept.begin(SCOPE, "k1", "x", "else", later) is not None
    assert kept.begin(SCOPE, "k1", "x", "f", later) is None
    assert kept.begin(SCOPE, "k1", "x", "f", later) is not None


def test_forgetting_blanks_the_answers_of_the_scope(store: SqlStore) -> None:
    kept = SqlReplies(store.database)
    commit(store, round_("r1", 0, edit("e1", "add", card("a"))))
    for scope in (SCOPE, "other/scope"):
        kept.begin(scope, "k", "x", "f", NOON)
        kept.finish(scope, "k", "x", Answered(fingerprint="f", at=NOON, status=200, media="m", body="guidance of a"))
    store.forget(SCOPE, card_id="a")
    assert kept.begin(SCOPE, "k", "x", "f", NOON) == Answered(fingerprint="f", at=NOON, status=410)
    assert kept.begin("other/scope", "k", "x", "f", NOON) == Answered(
        fingerprint="f", at=NOON, status=200, media="m", body="guidance of a"
    )
    store.forget(SCOPE, everything=True)
    assert kept.begin(SCOPE, "k", "x", "f", NOON) is None


def test_episodes_and_rounds_come_in_pages(store: SqlStore) -> None:
    for n in range(7):  # two start at each moment
        store.save_episode(Episode(id=f"e{n}", scope=SCOPE, task="t", started_at=NOON + (n // 2) * DAY))
        commit(store, round_(f"r{n}", n, edit(f"e{n}", "add", card(f"c{n}"))))
    seen: list[str] = []
    while page := store.latest(SCOPE, limit=3, before=seen[-1] if seen else None):
        seen += [e.id for e in page]
    assert seen == [f"e{n}" for n in (6, 5, 4, 3, 2, 1, 0)]
    assert [r.id for r in store.rounds(SCOPE, limit=2, before="r5")] == ["r4", "r3"]
    for ask in (store.latest, store.rounds):
        with pytest.raises(NotFound):
            ask(SCOPE, limit=1, before="nobody")
        with pytest.raises(NotFound):
            ask("other/scope", limit=1, before="e1")


def test_an_episode_is_kept_open_and_resumed_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, scope=SCOPE, embedder=HashEmbedder()) as memory:
        memory.add("Ask a question.", key="push")
        episode = memory.episode("push")
        (recalled,) = episode.recall()
        episode.keep()
    with Memory(path, scope=SCOPE, embedder=HashEmbedder()) as memory:
        again = memory.resume(episode.id)
        again.decide("hook", "question", because=[recalled])
        again.deliver("d1", "Well?")
        with pytest.raises(Conflict, match="close it"):
            again.keep()
        again.close()
        (kept,) = memory.episodes()
        assert [c.cards for c in kept.citations] == [(recalled.id,)]
        with pytest.raises(Conflict, match="is closed"):
            memory.resume(episode.id)
        with pytest.raises(NotFound):
            memory.resume("nobody")
