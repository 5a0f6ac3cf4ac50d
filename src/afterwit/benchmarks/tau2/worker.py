"""Runs inside τ²-bench's own environment: one JSON request a line on stdin, one answer a line on stdout.

    {"do": "tasks", "domain": "retail"}
    {"do": "tools", "domain": "retail"}
    {"do": "run", "domain": "retail", "task": "0", "calls": [{"by": "assistant", "tool": "…", "arguments": {…}}, …]}

A call with ``fault`` is not made: its text is the error that the agent sees. Standard library and τ² alone.

A run needs three fresh databases, and reading them costs ten times the run. They are read once, and each run happens in
a forked child that takes its own from them, which the parent never touches.
"""

import gc
import json
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any

REAL = sys.stdout
sys.stdout = sys.stderr  # the package logs; answers alone go out
_COPIES = 3  # of each database in one run: the agent's, and the verifier's two
_fresh: dict[tuple[type, str], list[Any]] = {}


@cache
def _tasks(domain: str) -> dict[str, Any]:
    from tau2.registry import registry

    return {task.id: task for task in registry.get_tasks_loader(domain)()}


def tasks(domain: str) -> list[dict[str, Any]]:
    found = []
    for task in _tasks(domain).values():
        criteria = task.evaluation_criteria
        instructions = task.user_scenario.instructions
        said = instructions if isinstance(instructions, str) else instructions.model_dump()
        calls = [
            {"by": a.requestor, "tool": a.name, "arguments": a.arguments}
            for a in (criteria.actions or [] if criteria else [])
        ]
        found.append({"id": task.id, "said": said, "calls": calls})
    return found


def tools(domain: str) -> list[dict[str, Any]]:
    from tau2.registry import registry

    environment = registry.get_env_constructor(domain)()
    found = []
    for by, kit in (("assistant", environment.tools), ("user", environment.user_tools)):
        for name, tool in kit.get_tools().items() if kit else ():
            fields = tool.params.model_fields.items()
            required = [field for field, about in fields if about.is_required()]
            changes = kit.tool_type(name).value in ("write", "generic")
            schema = tool.openai_schema["function"]
            about, parameters = schema.get("description", ""), schema.get("parameters", {}).get("properties", {})
            found.append(
                {
                    "by": by,
                    "name": name,
                    "required": required,
                    "changes": changes,
                    "about": about.strip().split("\n")[0],
                    "parameters": parameters,
                }
            )
    return found


def _keep_fresh() -> None:
    """Makes τ² take databases from those that are ready, where there are any."""
    from tau2.environment.db import DB

    read: Callable[..., Any] = DB.load.__func__

    def load(cls: type, path: str) -> Any:
        ready = _fresh.setdefault((cls, str(path)), [])
        return ready.pop() if ready else read(cls, path)

    DB.load = classmethod(load)


@cache
def _ready(domain: str) -> None:
    """Reads what a run of the domain will need."""
    from tau2.registry import registry

    known = set(_fresh)
    registry.get_env_constructor(domain)()
    for cls, path in set(_fresh) - known:
        _fresh[cls, path] = [cls.load(path) for _ in range(_COPIES)]  # type: ignore[attr-defined]
    gc.freeze()


def _apart(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The work's answer, from a child that keeps its changes to itself."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        with os.fdopen(writing, "w", encoding="utf-8") as pipe:
            pipe.write(json.dumps(_answered(work)))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return dict(json.loads(text)) if text else {"failed": "the run ended without an answer"}


def _answered(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return work()
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}


def run(domain: str, task_id: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    from tau2.data_model.message import AssistantMessage, ToolCall, UserMessage
    from tau2.data_model.simulation import SimulationRun, TerminationReason
    from tau2.evaluator.evaluator import EvaluationType, evaluate_simulation
    from tau2.registry import registry

    task = _tasks(domain)[task_id].model_copy(deep=True)
    environment = registry.get_env_constructor(domain)()
    state = task.initial_state
    environment.set_state(
        initialization_data=state.initialization_data if state else None,
        initialization_actions=state.initialization_actions if state else None,
        message_history=(state.message_history or []) if state else [],
    )
    steps, messages = [], []
    for i, call in enumerate(calls):
        if call.get("fault"):
            steps.append({"result": None, "error": call["fault"]})
            continue
        asked = ToolCall(id=str(i), name=call["tool"], arguments=call["arguments"], requestor=call["by"])
        answer = environment.get_response(asked)
        speaker = AssistantMessage if call["by"] == "assistant" else UserMessage
        messages += [speaker(role=call["by"], content=None, tool_calls=[asked]), answer]
        told = answer.content or ""
        steps.append({"result": None, "error": told} if answer.error else {"result": told, "error": None})
    said = " ".join((task.evaluation_criteria.communicate_info or []) if task.evaluation_criteria else [])
    messages.append(AssistantMessage(role="assistant", content=said or "Done."))
    now = datetime.now(UTC).isoformat()
    simulation = SimulationRun(
        id="run",
        task_id=task.id,
        start_time=now,
        end_time=now,
        duration=0.0,
        termination_reason=TerminationReason.AGENT_STOP,
        messages=messages,
    )
    reward = evaluate_simulation(simulation, task, EvaluationType.ALL, False, domain)
    return {"steps": steps, "reward": float(reward.reward)}


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    if request["do"] == "tasks":
        return {"tasks": tasks(request["domain"])}
    if request["do"] == "tools":
        return {"tools": tools(request["domain"])}
    _tasks(request["domain"])
    _ready(request["domain"])
    return _apart(lambda: run(request["domain"], request["task"], request["calls"]))


def main() -> None:
    try:
        from loguru import logger
        from tau2.registry import registry
    except ImportError as error:
        print(json.dumps({"missing": error.name or str(error)}), file=REAL, flush=True)
        return
    logger.remove()
    _keep_fresh()
    print(json.dumps({"domains": registry.get_domains()}), file=REAL, flush=True)
    gc.disable()  # walking the databases costs more than a run
    for line in sys.stdin:
        print(json.dumps(_answered(lambda line=line: _answer(json.loads(line)))), file=REAL, flush=True)  # type: ignore[misc]


if __name__ == "__main__":
    main()
