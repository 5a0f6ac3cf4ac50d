"""Runs inside τ²-bench's own environment: one JSON request a line on stdin, one answer a line on stdout.

    {"do": "tasks", "domain": "retail"}
    {"do": "tools", "domain": "retail"}
    {"do": "run", "domain": "retail", "task": "0", "calls": [{"by": "assistant", "tool": "…", "arguments": {…}}, …]}

A call with ``fault`` is not made: its text is the error that the agent sees. Standard library and τ² alone.
"""

import gc
import json
import sys
from datetime import UTC, datetime
from functools import cache
from typing import Any

REAL = sys.stdout
sys.stdout = sys.stderr  # the package logs; answers alone go out
_SWEEP = 25  # runs between two collections of garbage: databases are large, and walking them costs more than the run


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
            found.append({"by": by, "name": name, "required": required, "changes": changes})
    return found


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
    return run(request["domain"], request["task"], request["calls"])


def main() -> None:
    try:
        from loguru import logger
        from tau2.registry import registry
    except ImportError as error:
        print(json.dumps({"missing": error.name or str(error)}), file=REAL, flush=True)
        return
    logger.remove()
    print(json.dumps({"domains": registry.get_domains()}), file=REAL, flush=True)
    gc.disable()
    for count, line in enumerate(sys.stdin, start=1):
        try:
            answer = _answer(json.loads(line))
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=REAL, flush=True)
        if count % _SWEEP == 0:
            gc.collect()


if __name__ == "__main__":
    main()
