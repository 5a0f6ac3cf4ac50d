"""Learning that keeps up, in small simulated worlds through the very rounds of a memory."""

import json

import pytest
from typer.testing import CliRunner

from afterwit.benchmarks.weekly import run as weekly
from afterwit.benchmarks.weekly import worlds
from afterwit.cli.app import app
from afterwit.cli.course import course
from afterwit.model import Round, fold

SEEDS = (101, 102)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_handful_of_decisions_is_confirmed_without_waiting_for_more(seed: int):
    assert weekly.confirmed_by(weekly.live(worlds.steady(1.3).with_size(weeks=12), seed), 12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("world", [worlds.opposite(), worlds.two_fields(), worlds.numeric(), worlds.proxy()])
def test_opposite_contexts_are_two_claims_and_none_that_holds_everywhere(world: worlds.World, seed: int):
    assert weekly.contexts_right(weekly.live(world, seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_after_a_change_the_old_advice_goes_and_the_new_one_comes(seed: int):
    life = weekly.live(worlds.change(12), seed)
    assert weekly.gone(life, 12)
    assert weekly.replaced(life, 12)


def test_where_nothing_has_an_effect_nothing_is_confirmed():
    assert not any(weekly.confirms_anything(weekly.live(worlds.steady(1.0), seed)) for seed in range(4))


def test_the_command_prints_a_record_of_shares(monkeypatch: pytest.MonkeyPatch):
    few = {name: (world.with_size(weeks=3), what) for name, (world, what) in weekly.questions().items()}
    monkeypatch.setattr(weekly, "questions", lambda: few)
    result = CliRunner().invoke(app, ["evaluate", "weekly", "--seeds", "2", "--json"])
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["benchmark"] == "weekly"
    found = record["policies"]["effect 1"]["confirms anything"]
    assert (found["value"], found["n"]) == (0.0, 2)
    assert 0 <= found["low"] <= found["high"] <= 1
    wrong = CliRunner().invoke(app, ["evaluate", "weekly", "--seeds", "0"])
    assert wrong.exit_code != 0


def test_the_course_of_a_card_is_drawn_with_what_happened_to_it():
    rounds: list[Round] = weekly.rounds(worlds.change(8).with_size(weeks=13), 101)
    edits = [edit for made in rounds for edit in made.edits]
    gone = [c for c in fold(edits).values() if c.status == "retired" and c.valid_until is not None]
    assert gone
    drawn = course(gone[0].id, [e for e in edits if any(c.id == gone[0].id for c in e.writes)], rounds)
    assert drawn[0][3].startswith("admit")
    assert any("changed" in row[3] for row in drawn)
    assert all("●" in row[2] and len(row[2]) == 41 for row in drawn)
    told = next(made for made in rounds if any(edit.reason.startswith("changed") for edit in made.edits))
    assert "1 changed" in told.summary()
