"""Lessons without a model: a condition and an action from what the record shows, the same words for one mistake."""

from collections.abc import Iterable, Sequence

from afterwit.credit.gate.record import Finding
from afterwit.model import Episode, Lesson, Stage, normalised

_LONGEST = 120


def lessons_of(episode: Episode, stages: Iterable[Stage], signs: Sequence[Finding]) -> dict[Stage, Lesson]:
    """At most one a stage; none where the record says nothing that could be acted on."""
    found: dict[Stage, Lesson] = {}
    for stage in stages:
        lesson = _execution(signs) if stage == "execution" else _planning(episode)
        if lesson is not None:
            found[stage] = lesson
    return found


def _execution(signs: Sequence[Finding]) -> Lesson | None:
    """About the tool and the argument, never about this task's values, so that it serves the next one."""
    for sign in sorted(signs, key=lambda s: ("unsupported", "refused", "unplanned", "undone").index(s.kind)):
        tool = sign.tool.replace("_", " ")
        if sign.kind == "unsupported":
            name = sign.argument.replace("_", " ")
            return Lesson(
                stage="execution",
                key=f"{tool}: {name}",
                condition=f"a step calls {tool}",
                action=f"take its {name} word for word from the task or from what an earlier step returned",
            )
        if sign.kind == "refused":
            said = " ".join(sign.told.split())[:_LONGEST]
            return Lesson(
                stage="execution",
                key=tool,
                condition=f"a step calls {tool}",
                action=f"check its arguments first; it refuses with: {said}",
            )
        if sign.kind == "unplanned":
            return Lesson(
                stage="execution",
                key=tool,
                condition="the plan does not speak of it",
                action=f"leave out {tool} and do what the plan's next sentence says",
            )
    return None


def _planning(episode: Episode) -> Lesson | None:
    """What the task asks for and the plan does not mention."""
    plan = set(normalised(episode.plan or "").split())
    for sentence in episode.task.replace("\n", ".").split("."):
        words = [word for word in normalised(sentence).split() if len(word) > 3]
        if len(words) >= 3 and len(set(words) & plan) * 4 <= len(set(words)):
            asked = " ".join(sentence.split())[:_LONGEST]
            return Lesson(
                stage="planning",
                key=asked,
                condition=f"the task asks: {asked}",
                action="give this part a step of its own in the plan",
            )
    return None
