"""After forgetting, no byte of any file of the store holds the text, and the history still adds up."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from afterwit.errors import Conflict, InputError, NotFound
from afterwit.model import Credit, Delivery, Episode, Provenance, Recalled, Refusal, Step
from afterwit.store.open import open_store
from afterwit.store.sql import SqlStore
from store_cases import NOON, bytes_of, card, commit, edit, opened, retired, round_

SCOPE = "acme/push"
SECRET = "Zanzibar-4711 opens the vault"


Held = Callable[[], bytes]


@pytest.fixture(params=["file", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Held]:
    """A store's URL, and all bytes of its files."""
    if request.param == "file":
        return str(tmp_path / "memory.db"), lambda: bytes_of(tmp_path)
    cluster = request.getfixturevalue("cluster")
    return cluster.new(), cluster.bytes


@pytest.fixture
def store(place: tuple[str, Held]) -> Iterator[SqlStore]:
    made = open_store(place[0])
    opened(made)
    yield made
    made.close()


@pytest.fixture
def held(place: tuple[str, Held]) -> Held:
    return place[1]


def gone(held: Held, store: SqlStore) -> bool:
    """From the files as they lie while the store is open; a file's own log included, a server's not."""
    data = held()
    assert b"hash-64" in data
    assert store.check(SCOPE) == ()
    return b"zanzibar" not in data.lower()


def test_a_forgotten_card_leaves_every_file_and_no_past_brings_it_back(held: Held, store: SqlStore) -> None:
    a = card("a", SECRET)
    commit(store, round_("r1", 0, edit("e1", "add", a, card("b"), reason=f"added {SECRET}"), note=f"say {SECRET}"))
    child = card("c", f"{SECRET}; and more", provenance=Provenance(operator="merge", parents=("a", "b")))
    refused = Refusal(subject="x", verdict="refused", reason=f"merge refused: {SECRET[:26]}… disagrees")
    credit = Credit(id="k", episode_id="e", card_id="a", decision="d", weight=1, kind="sole", reason="Zanzibar")
    commit(
        store,
        round_(
            "r2", 1, edit("e2", "merge", child, retired(a), parents=("a", "b")), refused=(refused,), credits=(credit,)
        ),
    )
    commit(store, round_("r3", 2, edit("e3", "admit", card("d")), status="proposed"))
    store.save_episode(Episode(id="e", scope=SCOPE, task="t", started_at=NOON, output=f"I read: {SECRET}"))
    trace = Recalled(card_id="a", version=1, bank="content", rank=0, similarity=1, score=1)
    store.record_recall(SCOPE, "e", (trace,), NOON)
    assert b"Zanzibar" in held()

    done = store.forget(SCOPE, card_id="a")

    assert gone(held, store)
    assert set(done.tombstones) == {"card:a", "card:c"}  # the merged card repeats the text
    assert (done.cards, done.rounds) == (2, 2)
    for as_of in (None, NOON):
        assert [c.id for c in store.bank(SCOPE, "content", as_of=as_of).cards] == ["b"]
    assert [r.id for r in store.rounds(SCOPE)] == ["r3", "r2", "r1"]
    assert store.forget(SCOPE, card_id="a").cards == 0  # again is no error
    with pytest.raises(Conflict, match="was forgotten"):
        commit(store, round_("r4", store.bank_version(SCOPE, "content"), edit("e4", "restore", card("a", version=9))))


def test_a_forgotten_episode_takes_its_recalls_deliveries_and_sole_lessons_along(held: Held, store: SqlStore) -> None:
    step = Step(tool="pay", arguments={"note": [SECRET]}, result=f"paid: {SECRET}")
    store.save_episode(Episode(id="e", scope=SCOPE, task=f"ask {SECRET}", started_at=NOON, steps=(step,), output="o"))
    store.save_episode(Episode(id="f", scope=SCOPE, task="another", started_at=NOON))
    store.save_deliveries(
        [
            Delivery(id="d", scope=SCOPE, created_at=NOON, text=f"Read {SECRET}", episode_id="e"),
            Delivery(id="g", scope=SCOPE, created_at=NOON, text="another"),
        ]
    )
    store.record_recall(SCOPE, "e", (), NOON)
    lesson = card("a", "a lesson on Zanzibar", cases=("e",))
    commit(store, round_("r1", 0, edit("e1", "admit", lesson, card("b", cases=("e", "f")))))
    done = store.forget(SCOPE, episode_id="e")
    assert gone(held, store)
    assert (done.cards, done.episodes, done.deliveries) == (1, 1, 1)
    assert [e.id for e in store.episodes(SCOPE)] == ["f"]
    assert [d.id for d in store.deliveries(SCOPE)] == ["g"]
    assert [c.id for c in store.bank(SCOPE, "content").cards] == ["b"]


def test_a_forgotten_delivery_stays_forgotten_when_its_log_is_read_again(held: Held, store: SqlStore) -> None:
    store.save_episode(Episode(id="e", scope=SCOPE, task="t", started_at=NOON, output=SECRET, delivery_ids=("d",)))
    delivery = Delivery(id="d", scope=SCOPE, created_at=NOON, text=SECRET, episode_id="e")
    store.save_deliveries([delivery])
    assert store.forget(SCOPE, delivery_id="d").deliveries == 1
    assert gone(held, store)
    assert store.save_deliveries([delivery, replace(delivery, id="d2", text="new")]) == 1
    assert gone(held, store)
    (episode,) = store.episodes(SCOPE)
    assert episode.output == "[forgotten]"
    (name,) = episode.delivery_ids
    assert name.startswith("forgotten:")


def test_forgetting_everything_leaves_no_byte(held: Held, store: SqlStore) -> None:
    commit(store, round_("r1", 0, edit("e1", "add", card("a", SECRET))))
    store.save_deliveries([Delivery(id="d", scope=SCOPE, created_at=NOON, text=SECRET, context={"zanzibar": 1})])
    store.forget(SCOPE, everything=True)
    assert gone(held, store)


def test_forget_names_one_target_that_exists(store: SqlStore) -> None:
    for bad in ({}, {"card_id": "a", "everything": True}, {"card_id": "a", "episode_id": "e"}):
        with pytest.raises(InputError, match="exactly one"):
            store.forget(SCOPE, **bad)  # type: ignore[arg-type]
    for kind in ("card", "episode", "delivery"):
        with pytest.raises(NotFound, match=f"no {kind} nobody"):
            store.forget(SCOPE, **{f"{kind}_id": "nobody"})  # type: ignore[arg-type]
