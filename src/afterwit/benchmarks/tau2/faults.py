"""Trajectories whose cause is known, made from a task's gold actions: the recipes.

The two kinds of domain differ in theirs, so that a gate developed on one is tried on faults that it has not seen:

| | airline | retail and telecom |
|---|---|---|
| planning | the plan ends before a sub-goal | any is left out, or two stand in the wrong order |
| execution | one letter, or a number by one, is wrong | a value of another entity or of none, or another tool |
| outside | 503, a timeout | a reset connection, a rate limit, a bad gateway |
| beside the cause | nothing | an error from outside made good at once, or one look-up more |
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from afterwit.benchmarks.tau2.environment import Call, Tau2Task, Tool
from afterwit.benchmarks.tau2.plans import prose
from afterwit.model import StageVerdict

_OUTSIDE_AIRLINE = ("503 service unavailable", "the request timed out")
_OUTSIDE = ("connection reset, try again later", "429 too many requests", "bad gateway")
_BESIDE = 0.25  # how often a run outside airline holds something harmless

Calls = tuple[Call, ...]


@dataclass(frozen=True, kw_only=True)
class Planned:
    """cause: whose doing a failure is, None for the gold run. recipe: what was done to it. plan: prose without
    arguments. calls: what is done. alone: for both causes, the runs in which each acts alone, which must fail too."""

    task: str
    cause: StageVerdict | None
    recipe: str
    plan: str
    calls: Calls
    alone: tuple[Calls, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Kit:
    """What a recipe may draw on. others: calls of the domain's other tasks, for values of other entities."""

    domain: str
    tools: tuple[Tool, ...]
    others: Calls
    rng: random.Random

    @property
    def developed_on(self) -> bool:
        return self.domain == "airline"

    def writes(self, calls: Sequence[Call]) -> list[int]:
        """Places of the calls that may change something."""
        changing = {(tool.by, tool.name) for tool in self.tools if tool.changes}
        return [i for i, call in enumerate(calls) if (call.by, call.tool) in changing]


def recipes(domain: str, task: Tau2Task, tools: tuple[Tool, ...], others: Calls, seed: int) -> list[Planned]:
    """The gold run and a fault of each cause, where the task has something to change."""
    kit = Kit(domain=domain, tools=tools, others=others, rng=random.Random(f"{domain}/{task.id}/{seed}"))
    rng, good = kit.rng, task.calls
    made = [_planned(kit, task, None, "none", good, good)]
    places = kit.writes(good)
    if not places:
        return made
    badly = _badly_planned(kit, good, places)
    wrongly = _wrongly_done(kit, good, places)
    hit = rng.choice(places)
    outside = replace(good[hit], fault=rng.choice(_OUTSIDE_AIRLINE if kit.developed_on else _OUTSIDE))
    if badly[1]:  # a plan of nothing is none
        made.append(_planned(kit, task, "planning", badly[0], badly[1], badly[1]))
    made.append(_planned(kit, task, "neither", "outside", good, _with(good, hit, outside)))
    if wrongly is not None:
        made.append(_planned(kit, task, "execution", wrongly[0], good, wrongly[1]))
    left = kit.writes(badly[1])
    together = _wrongly_done(kit, badly[1], left) if left else None
    if together is not None:
        recipe, calls, (before, after) = together
        first = next((i for i in places if good[i] == before), None)
        if first is not None:
            alone = (badly[1], _with(good, first, after))
            made.append(_planned(kit, task, "both", f"{badly[0]} and {recipe}", badly[1], calls, alone))
    return made


def _planned(
    kit: Kit,
    task: Tau2Task,
    cause: StageVerdict | None,
    recipe: str,
    asked: Calls,
    done: Calls,
    alone: tuple[Calls, ...] = (),
) -> Planned:
    plan = prose(asked, kit.rng)
    if not kit.developed_on and kit.rng.random() < _BESIDE:
        done = _harmless(kit, done)
    return Planned(task=task.id, cause=cause, recipe=recipe, plan=plan, calls=done, alone=alone)


def _badly_planned(kit: Kit, calls: Calls, places: Sequence[int]) -> tuple[str, Calls]:
    swaps = [(a, b) for a in places for b in places if a < b and calls[a].tool != calls[b].tool]
    if not kit.developed_on and swaps and kit.rng.random() < 0.5:
        a, b = kit.rng.choice(swaps)
        return "misordered", _with(_with(calls, a, calls[b]), b, calls[a])
    left = kit.rng.choice(places)
    return ("cut off", calls[:left]) if kit.developed_on else ("left out", calls[:left] + calls[left + 1 :])


def _wrongly_done(kit: Kit, calls: Calls, places: Sequence[int]) -> tuple[str, Calls, tuple[Call, Call]] | None:
    """What was done, the calls with it, and the call before and after; None where nothing can be done wrongly."""
    at = kit.rng.choice(places)
    call = calls[at]
    ways: list[tuple[str, Callable[[], Call]]] = []
    if call.arguments:
        ways.append(("wrong argument", lambda: _misgiven(kit, call)))
    siblings = [] if kit.developed_on else _siblings(kit, call)
    if siblings:
        ways.append(("wrong tool", lambda: _mistaken(kit.rng.choice(siblings), call)))
    if not ways:
        return None
    recipe, do = kit.rng.choice(ways)
    wrong = do()
    return (recipe, _with(calls, at, wrong), (call, wrong)) if wrong != call else None


def _siblings(kit: Kit, call: Call) -> list[Tool]:
    """Other tools of the same hand that change something and can be called with these arguments."""
    return [
        tool
        for tool in kit.tools
        if tool.changes
        and tool.by == call.by
        and tool.name != call.tool
        and set(tool.required) <= call.arguments.keys()
    ]


def _mistaken(tool: Tool, call: Call) -> Call:
    return replace(call, tool=tool.name, arguments={name: call.arguments[name] for name in tool.required})


def _misgiven(kit: Kit, call: Call) -> Call:
    name = kit.rng.choice(sorted(call.arguments))
    value = call.arguments[name]
    elsewhere = [other.arguments[name] for other in kit.others if name in other.arguments]
    elsewhere = [other for other in elsewhere if other != value]
    if not kit.developed_on and elsewhere and kit.rng.random() < 0.5:
        wrong = kit.rng.choice(elsewhere)
    else:
        wrong = changed(value, kit.rng, slightly=kit.developed_on)
    return replace(call, arguments={**call.arguments, name: wrong})


def changed(value: Any, rng: random.Random, *, slightly: bool) -> Any:
    """Another value of the same shape: slightly, by one letter or by 1; else one that comes from nowhere."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + (1 if slightly else rng.randint(2, 9))
    if isinstance(value, str) and value:
        if not slightly:
            return "".join(rng.sample("0123456789abcdef", 8))
        at = rng.randrange(len(value))
        return value[:at] + ("x" if value[at] != "x" else "y") + value[at + 1 :]
    if isinstance(value, list) and value:
        return [changed(value[0], rng, slightly=slightly), *value[1:]]
    if isinstance(value, dict) and value:
        name = rng.choice(sorted(value))
        return {**value, name: changed(value[name], rng, slightly=slightly)}
    return "none"


def _harmless(kit: Kit, calls: Calls) -> Calls:
    """The same run with an error from outside that the same call makes good, or with a look-up made twice."""
    idle = {(tool.by, tool.name) for tool in kit.tools if not tool.changes}
    reads = [i for i, call in enumerate(calls) if (call.by, call.tool) in idle]
    if reads and kit.rng.random() < 0.5:
        at = kit.rng.choice(reads)
        return (*calls[: at + 1], calls[at], *calls[at + 1 :])
    able = [i for i, call in enumerate(calls) if call.fault is None]
    if not able:
        return calls
    at = kit.rng.choice(able)
    return (*calls[:at], replace(calls[at], fault=kit.rng.choice(_OUTSIDE)), *calls[at:])


def _with(calls: Calls, place: int, call: Call) -> Calls:
    return (*calls[:place], call, *calls[place + 1 :])
