"""Trajectories whose cause is known: the gold ones, less a sub-goal, with a wrong argument, or stopped from outside."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from afterwit.benchmarks.tau2.environment import Call, Tau2Task
from afterwit.model import StageVerdict

_READS = ("get_", "find_", "list_", "search_", "calculate", "think", "check_", "run_speed", "can_")
_OUTSIDE = {
    "airline": ("503 service unavailable", "the request timed out"),
    "other": (
        "connection reset, try again later",
        "429 too many requests",
        "bad gateway",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Planned:
    """cause: whose doing a failure is, None for the gold run. plan: prose without arguments. calls: what is done."""

    task: str
    cause: StageVerdict | None
    plan: str
    calls: tuple[Call, ...]


def prose(calls: Sequence[Call], rng: random.Random) -> str:
    """One sentence a call, in one of several phrasings."""
    openings = ("", "Then ", "Next, ", "After that ")
    sentences = []
    for place, call in enumerate(calls):
        opening = openings[0] if not place else rng.choice(openings)
        words = call.tool.replace("_", " ")
        words = f"have the customer {words}" if call.by == "user" else words
        sentences.append((opening + words)[0].upper() + (opening + words)[1:])
    return ". ".join(sentences) + "."


def writes(calls: Sequence[Call]) -> list[int]:
    """Places of the calls that change something."""
    return [i for i, call in enumerate(calls) if not call.tool.startswith(_READS)]


def recipes(domain: str, task: Tau2Task, seed: int) -> list[Planned]:
    """The gold run and one fault of each kind, where the task has something to change. Airline faults differ in kind:
    they leave out the last sub-goal and change a letter; elsewhere any sub-goal goes and a value comes from nowhere."""
    rng = random.Random(f"{domain}/{task.id}/{seed}")
    calls, places = task.calls, writes(task.calls)
    whole = prose(calls, rng)
    made = [Planned(task=task.id, cause=None, plan=whole, calls=calls)]
    if not places:
        return made
    left = places[-1] if domain == "airline" else rng.choice(places)
    shorter = tuple(call for i, call in enumerate(calls) if i != left)
    hit = rng.choice(places)
    broken = replace(calls[hit], fault=rng.choice(_OUTSIDE.get(domain, _OUTSIDE["other"])))
    made.append(Planned(task=task.id, cause="planning", plan=prose(shorter, rng), calls=shorter))
    made.append(Planned(task=task.id, cause="neither", plan=whole, calls=_with(calls, hit, broken)))
    for cause, base, plan in (("execution", calls, whole), ("both", shorter, prose(shorter, rng))):
        able = [i for i in (writes(base) or range(len(base))) if base[i].arguments]
        if able:
            at = rng.choice(able)
            wrong = replace(base[at], arguments=_wrong(base[at].arguments, rng, letter=domain == "airline"))
            made.append(Planned(task=task.id, cause=cause, plan=plan, calls=_with(base, at, wrong)))  # type: ignore[arg-type]
    return made


def _with(calls: Sequence[Call], place: int, call: Call) -> tuple[Call, ...]:
    return (*calls[:place], call, *calls[place + 1 :])


def _wrong(arguments: Mapping[str, Any], rng: random.Random, *, letter: bool) -> dict[str, Any]:
    name = rng.choice(sorted(arguments))
    return {**arguments, name: _changed(arguments[name], rng, letter=letter)}


def _changed(value: Any, rng: random.Random, *, letter: bool) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + (1 if letter else rng.randint(2, 9))
    if isinstance(value, str) and value:
        if letter:
            at = rng.randrange(len(value))
            return value[:at] + ("x" if value[at] != "x" else "y") + value[at + 1 :]
        return "".join(rng.sample("0123456789abcdef", 8))
    if isinstance(value, list) and value:
        return [_changed(value[0], rng, letter=letter), *value[1:]]
    if isinstance(value, dict) and value:
        return _wrong(value, rng, letter=letter)
    return "none"
