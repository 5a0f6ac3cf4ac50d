"""Runs inside BFCL's own environment: one JSON request a line on stdin, one answer a line on stdout.

    {"do": "entries", "category": "live_simple"}
    {"do": "truth", "category": "live_simple"}
    {"do": "conversations"}
    {"do": "execute", "category": "multi_turn_base", "id": "…", "session": "…", "calls": ["cd(folder='a')"]}
    {"do": "check", "category": "…", "id": "…", "session": "…", "answer": …}

Data, simulated interfaces and checkers are the package's. Standard library and the package alone.
"""

import json
import sys
import types
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

REAL = sys.stdout
sys.stdout = sys.stderr  # the package prints; answers alone go out


class _Any:
    """Stands for the settings of every model: function names keep their dots."""

    underscore_to_dot = False


def _stub() -> None:
    """The package's list of models imports every vendor's client; the checkers ask it one thing."""
    module = types.ModuleType("bfcl_eval.constants.model_config")
    module.MODEL_CONFIG_MAPPING = defaultdict(_Any)  # type: ignore[attr-defined]
    sys.modules["bfcl_eval.constants.model_config"] = module


@cache
def _entries(category: str) -> dict[str, Any]:
    from bfcl_eval.utils import load_dataset_entry

    if category == "memory":
        rows = _lines("BFCL_v4_memory.json")
    else:
        rows = load_dataset_entry(category, include_prereq=False, include_language_specific_hint=False)
    return {row["id"]: row for row in rows}


@cache
def _truth(category: str) -> dict[str, Any]:
    if category in ("live_irrelevance", "live_relevance"):
        return {}
    return {row["id"]: row["ground_truth"] for row in _lines(f"possible_answer/BFCL_v4_{category}.json")}


def _lines(name: str) -> list[dict[str, Any]]:
    import bfcl_eval

    path = Path(bfcl_eval.__file__).parent / "data" / name
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def entries(category: str) -> list[dict[str, Any]]:
    found = []
    for row in _entries(category).values():
        held = {int(turn): docs for turn, docs in (row.get("missed_function") or {}).items()}
        found.append(
            {
                "id": row["id"],
                "turns": row["question"],
                "functions": row.get("function") or [],
                "later": [{"turn": turn, "functions": docs} for turn, docs in sorted(held.items())],
                "scenario": row.get("scenario", ""),
            }
        )
    return found


def conversations() -> dict[str, list[str]]:
    """Scenario → what the user said before, in order."""
    found: dict[str, list[str]] = {}
    for name in ("customer", "finance", "healthcare", "notetaker", "student"):
        for row in _lines(f"memory_prereq_conversation/memory_{name}.json"):
            found.setdefault(name, []).extend(m["content"] for turn in row["question"] for m in turn)
    return found


def execute(category: str, id_: str, session: str, calls: list[str]) -> list[str]:
    from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils import execute_multi_turn_func_call

    entry = _entries(category)[id_]
    results, _ = execute_multi_turn_func_call(
        func_call_list=calls,
        initial_config=entry["initial_config"],
        involved_classes=entry["involved_classes"],
        model_name=session,
        test_entry_id=id_,
        long_context="long_context" in category,
    )
    return list(results)


def check(category: str, id_: str, session: str, answer: Any) -> dict[str, Any]:
    if category == "memory":
        from bfcl_eval.eval_checker.agentic_eval.agentic_checker import agentic_checker

        return dict(agentic_checker(answer, _truth(category)[id_]))
    if category == "live_irrelevance":
        return {"valid": not answer, "error_type": "a call where none helps"}
    if category == "live_relevance":
        return {"valid": bool(answer), "error_type": "no call where one helps"}
    if category.startswith("multi_turn"):
        return _check_turns(category, id_, session, answer)
    from bfcl_eval.constants.enums import Language
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker

    functions = _entries(category)[id_]["function"]
    return dict(ast_checker(functions, answer, _truth(category)[id_], Language.PYTHON, category, session))


def _check_turns(category: str, id_: str, session: str, answer: Any) -> dict[str, Any]:
    from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import multi_turn_checker

    entry, truth = _entries(category)[id_], _truth(category)[id_]
    if len(answer) != len(truth):
        return {"valid": False, "error_type": f"{len(answer)} turns were answered, {len(truth)} are wanted"}
    return dict(multi_turn_checker(answer, truth, entry, category, session))


def _answer(request: dict[str, Any]) -> Any:
    do = request.pop("do")
    if do == "entries":
        return entries(request["category"])
    if do == "truth":
        return _truth(request["category"])
    if do == "conversations":
        return conversations()
    if do == "execute":
        return execute(request["category"], request["id"], request["session"], request["calls"])
    found = check(request["category"], request["id"], request["session"], request["answer"])
    return {"valid": bool(found["valid"]), "why": "" if found["valid"] else str(found.get("error_type", ""))}


def main() -> None:
    _stub()
    try:
        import bfcl_eval.utils  # noqa: F401
    except ImportError as error:
        print(json.dumps({"missing": error.name or str(error)}), file=REAL, flush=True)
        return
    print(json.dumps({"ready": True}), file=REAL, flush=True)
    for line in sys.stdin:
        try:
            told = {"answer": _answer(json.loads(line))}
        except Exception as error:
            told = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(told), file=REAL, flush=True)


if __name__ == "__main__":
    main()
