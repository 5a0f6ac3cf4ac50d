"""What whole rounds leave behind: the fold of their edits, undone, killed in the middle."""

import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from afterwit import Memory
from afterwit.errors import Conflict
from round_cases import (
    DAY,
    LATER,
    RIPE,
    SCOPE,
    START,
    at,
    know,
    open_memory,
    refolded,
    says,
    snapshot,
    trials,
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Forty tests in which “magic” works are known and ripe; nothing is learned yet."""
    with open_memory(tmp_path, RIPE) as opened:
        know(opened, trials(40))
        yield opened


# What a round leaves behind


def test_the_bank_equals_the_fold_of_its_edits_after_every_kind_of_round(memory: Memory) -> None:
    def sound() -> None:
        assert memory._store.bank(SCOPE, "content") == refolded(memory)
        assert memory.check() == ()

    card = memory.add("Say river.", key="push", prefer="word=river")
    sound()
    memory.update(card.id, "Say river or stream.")
    sound()
    memory.evolve()
    sound()
    know(at(memory, LATER), trials(40, first=70))
    memory.approve(memory.evolve(final=True, approval=True).id)
    assert "active" in {c.status for c in memory.cards() if c.trial}
    sound()
    memory.approve(memory.evolve(approval=True).id, reject=True)
    sound()
    memory.delete(memory.cards()[0].id)
    sound()
    memory.rollback(to=RIPE)
    sound()
    memory.evolve()
    sound()


def test_after_a_rollback_the_memory_learns_again(memory: Memory) -> None:
    memory.evolve()
    learned = says(memory)
    undone = memory.rollback(to=START)
    assert memory.cards() == ()
    assert [edit.operator for edit in undone.edits] == ["restore"]
    memory.evolve()
    assert says(memory) == learned
    assert memory.evolve().edits == ()
    assert memory.check() == ()


def test_what_a_rollback_writes_names_the_round_that_wrote_it(memory: Memory) -> None:
    memory.evolve()
    learned = memory.cards()[0]
    memory.delete(learned.id)
    at(memory, LATER)
    memory.add("Be kind.", key="push")
    undone = memory.rollback(to=LATER - DAY)
    know(memory, trials(40, first=70))
    memory.rollback(to=LATER)
    for edit in memory._store.edits(SCOPE):
        if edit.operator == "restore":
            assert {card.provenance.round_id for card in edit.writes} <= {round_.id for round_ in memory.rounds()}
    assert undone.edits[0].writes[0].provenance.round_id == undone.id


def test_a_retired_card_is_not_reworded(memory: Memory) -> None:
    card = memory.add("Be kind.", key="push")
    memory.delete(card.id)
    before = snapshot(memory)
    with pytest.raises(Conflict, match="is retired: add it again"):
        memory.update(card.id, "Be kinder.")
    assert snapshot(memory) == before


# Killed in the middle


DYING = """
import os, pickle, signal, sys
from pathlib import Path
from sqlalchemy import event
from round_cases import RIPE, open_memory

round_ = pickle.loads(Path(sys.argv[1], "round.pickle").read_bytes())
for point in sys.argv[2:]:
    if os.fork():
        print(point, os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
        continue
    memory = open_memory(Path(sys.argv[1], point), RIPE)
    left = int(point)

    def count(*_):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    for moment in ("before_cursor_execute", "commit"):
        event.listen(memory._store.database.engine, moment, count)
    memory._commit(round_)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_killed_in_a_commit_leaves_the_old_round_or_the_new_one(memory: Memory, tmp_path: Path) -> None:
    memory.add("Say magic.", key="push", avoid="word=magic")  # contradicted: the round replaces it
    old = memory.cards()
    planned = replace(memory.evolve(dry_run=True), status="applied")
    (tmp_path / "round.pickle").write_bytes(pickle.dumps(planned))
    memory.close()
    points = [1, 5, 9, 13, 17, 20, 999]
    for point in points:
        (tmp_path / str(point)).mkdir()
        shutil.copy(tmp_path / "memory.db", tmp_path / str(point))
    done = subprocess.run(
        [sys.executable, "-c", DYING, tmp_path, *map(str, points)],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
            "OMP_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    died = dict(line.split() for line in done.stdout.splitlines())
    assert died == {str(point): str(-signal.SIGKILL) for point in points}, done.stderr
    found = []
    for point in points:
        with open_memory(tmp_path / str(point), RIPE) as survivor:
            assert survivor.check() == ()
            rounds, live = [round_.id for round_ in survivor.rounds()], survivor.cards()
            found.append("new" if planned.id in rounds else "old")
            if found[-1] == "old":
                assert live == old
                survivor._commit(planned)  # nothing is in its way
            assert says(survivor) == ["Prefer “magic”. provisional"]
    assert found[-1] == "new"
    assert found.count("old") >= 5  # the moments lie inside the commit
