"""The client of `worker`: BFCL v4 behind a subprocess, never in the core."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from afterwit.benchmarks.worker import Worker

ADVICE = (
    "BFCL needs a Python of its own: python -m venv bfcl && bfcl/bin/pip install --no-deps bfcl-eval==2026.3.23 && "
    "bfcl/bin/pip install tree_sitter==0.21.3 tree-sitter-java==0.21.0 tree-sitter-javascript==0.21.4 mpmath networkx "
    "rank_bm25 requests tqdm overrides filelock numpy; then set AFTERWIT_BFCL_PYTHON=bfcl/bin/python"
)
LIVE = (
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
    "live_irrelevance",
    "live_relevance",
)
TURNS = ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context")
CATEGORIES = (*LIVE, *TURNS, "memory")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """turns: what is said, turn by turn. functions: documents of those at hand. later: turn → more of them.
    scenario: of the memory category, whose earlier conversation is asked about."""

    id: str
    turns: tuple[tuple[Mapping[str, str], ...], ...]
    functions: tuple[Mapping[str, Any], ...]
    later: Mapping[int, tuple[Mapping[str, Any], ...]]
    scenario: str = ""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """why: the checker's kind of error, "" for a valid answer."""

    valid: bool
    why: str = ""


class Bfcl:
    """One worker process. python: of the environment that BFCL is installed in."""

    def __init__(self, python: str | Path | None = None) -> None:
        """Raises UsageError, with the commands that make that environment, where there is none."""
        script = Path(__file__).with_name("worker.py")
        self._worker = Worker("BFCL", python or os.environ.get("AFTERWIT_BFCL_PYTHON"), script, advice=ADVICE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._worker.close()

    def entries(self, category: str) -> tuple[Entry, ...]:
        return tuple(
            Entry(
                id=row["id"],
                turns=tuple(tuple(turn) for turn in row["turns"]),
                functions=tuple(row["functions"]),
                later={int(one["turn"]): tuple(one["functions"]) for one in row["later"]},
                scenario=row["scenario"],
            )
            for row in self._worker.ask(do="entries", category=category)["answer"]
        )

    def truth(self, category: str) -> dict[str, Any]:
        """Reference answers, for tests of the adapter alone."""
        found: dict[str, Any] = self._worker.ask(do="truth", category=category)["answer"]
        return found

    def conversations(self) -> dict[str, tuple[str, ...]]:
        """Scenario of the memory category → what the user said before, in order."""
        found = self._worker.ask(do="conversations")["answer"]
        return {name: tuple(texts) for name, texts in found.items()}

    def execute(self, category: str, entry: str, session: str, calls: Sequence[str]) -> list[str]:
        """Results of calls on the simulated interfaces, which keep their state within a session."""
        found = self._worker.ask(do="execute", category=category, id=entry, session=session, calls=list(calls))
        return [str(result) for result in found["answer"]]

    def check(self, category: str, entry: str, session: str, answer: Any) -> Verdict:
        """The benchmark's own checker. answer: calls as ``[{name: {argument: value}}]`` for live, turns of steps of
        call texts for multi-turn, a text for memory. session: one that was not checked before."""
        found = self._worker.ask(do="check", category=category, id=entry, session=session, answer=answer)["answer"]
        return Verdict(valid=found["valid"], why=found["why"])
