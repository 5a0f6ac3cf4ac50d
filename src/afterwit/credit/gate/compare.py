"""An episode's steps against those of a faithful replay of its plan: where the execution departed, and by what."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from afterwit.credit.gate.record import Finding, external
from afterwit.model import Episode, Step


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """success: of the plan, executed faithfully on a fresh copy of the environment. steps: those it took.
    idle: tools that change nothing there; a look-up more or less is no departure."""

    success: bool
    steps: tuple[Step, ...]
    idle: frozenset[str] = field(default_factory=frozenset)


PlanReplay = Callable[[Episode], Replayed | None]
"""Executes an episode's plan faithfully on a fresh copy and asks the verifier; None where there is no such copy."""


@dataclass(frozen=True)
class Act:
    """What a step meant to do; step: its number, from 1, which does not tell two acts apart."""

    tool: str
    arguments: Mapping[str, Any]
    step: int = field(compare=False)


def acts(steps: Sequence[Step], idle: frozenset[str]) -> list[Act]:
    """In order; an error from outside that the same call made good later counts once."""
    found = []
    for i, step in enumerate(steps):
        again = external(step) and any((s.tool, s.arguments) == (step.tool, step.arguments) for s in steps[i + 1 :])
        if step.tool not in idle and not again:
            found.append(Act(step.tool, dict(step.arguments), i + 1))
    return found


def departed(episode: Episode, replayed: Replayed) -> bool:
    """Whether the execution did other than the plan asks."""
    return acts(episode.steps, replayed.idle) != acts(replayed.steps, replayed.idle)


def departed_before(episode: Episode, replayed: Replayed, step: int) -> bool:
    """The same of what was done before a step: what comes after a fault may come of it."""
    done = acts(episode.steps[: step - 1], replayed.idle)
    return done != acts(replayed.steps, replayed.idle)[: len(done)]


def differences(episode: Episode, replayed: Replayed) -> list[Finding]:
    """Where the two part first: arguments, a tool in place of another, a step too many or one too few."""
    done, asked = acts(episode.steps, replayed.idle), acts(replayed.steps, replayed.idle)
    at = next((i for i, (one, other) in enumerate(zip(done, asked, strict=False)) if one != other), None)
    if at is None:
        at = min(len(done), len(asked))
        if at < len(done):
            return [Finding(kind="unplanned", step=done[at].step, tool=done[at].tool)]
        return [Finding(kind="missing", step=0, tool=asked[at].tool)] if at < len(asked) else []
    one, other = done[at], asked[at]
    if one.tool != other.tool:
        return [Finding(kind="instead", step=one.step, tool=one.tool, told=other.tool)]
    return [
        Finding(kind="argument", step=one.step, tool=one.tool, argument=name)
        for name in sorted(one.arguments.keys() | other.arguments.keys())
        if one.arguments.get(name) != other.arguments.get(name)
    ]
