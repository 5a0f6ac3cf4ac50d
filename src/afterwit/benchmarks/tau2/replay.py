"""The counterfactual that τ²-bench offers: a plan executed faithfully on a fresh copy, and the verifier's word.

The executor is an oracle: what a sentence asks for it does with the right arguments, as a faultless agent would find
them. It hands on what it did and whether that was enough, never the task's reference actions: what the plan leaves out
it leaves out too. With an executor that errs, the figures of a gate with replay are lower.
"""

from collections.abc import Callable, Sequence

from afterwit.benchmarks.tau2.environment import Call, Tau2, Tau2Task, Tool
from afterwit.benchmarks.tau2.plans import meant, sentences
from afterwit.credit.gate.compare import PlanReplay, Replayed
from afterwit.model import Episode, Step


def faithful(plan: str, task: Tau2Task, tools: Sequence[Tool], steps: Sequence[Step]) -> list[Call]:
    """The calls that the plan asks for, in its order. Of several that a sentence could mean those that ``steps``, the
    episode's own, come nearest to: a plan that leaves it open is not departed from by choosing."""
    asked = [tool for sentence in sentences(plan) if (tool := meant(sentence, tools)) is not None]
    chosen = {tool: _nearest(tool, asked.count(tool), task, steps) for tool in set(asked)}
    return [chosen[tool].pop(0) for tool in asked if chosen[tool]]


def replay(world: Tau2, domain: str, task_of: Callable[[Episode], Tau2Task]) -> PlanReplay:
    """task_of: the task that an episode served."""

    def replayed(episode: Episode) -> Replayed | None:
        task, tools = task_of(episode), world.tools(domain)
        ran = world.run(domain, task.id, faithful(episode.plan or "", task, tools, episode.steps))
        idle = frozenset(tool.name for tool in tools if not tool.changes)
        return Replayed(success=ran.success, steps=ran.steps, idle=idle)

    return replayed


def _nearest(tool: Tool, count: int, task: Tau2Task, steps: Sequence[Step]) -> list[Call]:
    """In the task's order, ``count`` of its calls of the tool: the ones most like a step that was taken."""
    calls = [call for call in task.calls if (call.tool, call.by) == (tool.name, tool.by)]
    taken = [step for step in steps if step.tool == tool.name]
    likest = sorted(range(len(calls)), key=lambda i: (-max((_alike(calls[i], s) for s in taken), default=0.0), i))
    return [calls[i] for i in sorted(likest[:count])]


def _alike(call: Call, step: Step) -> float:
    """The share of arguments that are the same."""
    names = call.arguments.keys() | step.arguments.keys()
    same = sum(call.arguments.get(name) == step.arguments.get(name) for name in names)
    return same / len(names) if names else 1.0
