"""Runs inside τ²-bench's own environment: one JSON request a line on stdin, one answer a line on stdout.

    {"do": "tasks", "domain": "retail"}
    {"do": "run", "domain": "retail", "task": "0", "calls": [{"by": "assistant", "tool": "…", "arguments": {…}}, …]}

A call with ``fault`` is not made: its text is the error that the agent sees. Standard library and τ² alone.
"""

import json
import sys
from datetime import UTC, datetime
from typing import Any

REAL = sys.stdout
sys.stdout = sys.stderr  # the package logs; answers alone go out


def tasks(domain: str) -> list[dict[str, Any]]:
    from tau2.registry import registry

    found = []
    for task in registry.get_tasks_loader(domain)():
        criteria = task.evaluation_criteria
        instructions = task.user_scenario.instructions
        said = instructions if isinstance(instructions, str) else instructions.model_dump()
        calls = [
            {"by": a.requestor, "tool": a.name, "arguments": a.arguments}
            for a in (criteria.actions or [] if criteria else [])
        ]
        found.append({"id": task.id, "said": said, "ticket": task.ticket, "calls": calls})
    return found


def run(domain: str, task_id: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    from tau2.data_model.message import AssistantMessage, ToolCall, UserMessage
    from tau2.data_model.simulation import SimulationRun, TerminationReason
    from tau2.evaluator.evaluator import EvaluationType, evaluate_simulation
    from tau2.registry import registry

    task = next(t for t in registry.get_tasks_loader(domain)() if t.id == task_id)
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


def main() -> None:
    from loguru import logger

    logger.remove()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["do"] == "tasks":
                answer: Any = {"tasks": tasks(request["domain"])}
            else:
                answer = run(request["domain"], request["task"], request["calls"])
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=REAL, flush=True)


if __name__ == "__main__":
    main()
