"""Lessons without a model: a condition and an action from what the record shows, the same words for one mistake."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from afterwit.credit.gate.compare import Replayed
from afterwit.credit.gate.record import Finding, complaints, stems
from afterwit.model import Episode, Lesson, Stage, content_hash, normalised

_LONGEST = 120
_SPOKEN = 0.4
_ORDER = ("argument", "instead", "missing", "unsupported", "refused", "unplanned")
_OWN = re.compile(r"\S*\d\S*")  # ids, amounts and dates of this task alone
_SENTENCE = re.compile(r"[.;!?\n。！？]+")


def lessons_of(
    episode: Episode, stages: Iterable[Stage], signs: Sequence[Finding], replayed: Replayed | None = None
) -> dict[Stage, Lesson]:
    """At most one a stage; none where the record says nothing that could be acted on."""
    found: dict[Stage, Lesson] = {}
    for stage in stages:
        lesson = _execution(signs) if stage == "execution" else _planning(episode, replayed)
        if lesson is not None:
            found[stage] = lesson
    return found


def _execution(signs: Sequence[Finding]) -> Lesson | None:
    """About the tool and the argument, never about this task's values, so that it serves the next one."""
    for sign in sorted((s for s in signs if s.kind in _ORDER), key=lambda s: _ORDER.index(s.kind)):
        tool, name, other = (text.replace("_", " ") for text in (sign.tool, sign.argument, sign.told))
        said = " ".join(_OWN.sub("…", sign.told).split())[:_LONGEST]
        key, condition, action = {
            "unsupported": (
                f"{tool}: {name}",
                f"a step calls {tool}",
                f"take its {name} word for word from the task or from what an earlier step returned",
            ),
            "argument": (
                f"{tool}: {name}",
                f"a step calls {tool}",
                f"check its {name} against what the task asks and what the earlier steps returned",
            ),
            "instead": (f"{other}, not {tool}", f"the plan asks for {other}", f"call {other} itself and not {tool}"),
            "missing": (tool, f"the plan asks for {tool}", f"do not end before {tool} was called"),
            "refused": (tool, f"a step calls {tool}", f"check its arguments first; it refuses with: {said}"),
            "unplanned": (
                tool,
                "the plan does not speak of it",
                f"leave out {tool} and do what the plan's next sentence says",
            ),
        }[sign.kind]
        return Lesson(stage="execution", key=key, condition=condition, action=action)
    return None


def _planning(episode: Episode, replayed: Replayed | None) -> Lesson | None:
    found = (_order(replayed) if replayed else None) or _unused(episode)
    # Where the tools are known a part of the task without one is this task's own, and no lesson for another.
    return found or (None if _tools(episode) else _left_out(episode))


def worked(episode: Episode) -> dict[Stage, Lesson]:
    """Of a success: the part of the task that the plan did not forget, in the words of a lesson that was learned from
    forgetting it."""
    used = {step.tool for step in episode.steps}
    spoken = speaks_of(episode.task, _tools(episode))
    return next(({"planning": _remember(tool, cue)} for tool, cue in spoken.items() if tool in used), {})


def guess(episode: Episode, stage: Stage) -> Lesson | None:
    """What a writer says of a failed stage where nothing shows: the tool at hand that the task's words come nearest to
    and no step used, or some argument of the last step. None where there is neither."""
    if stage == "planning":
        return _unused(episode, least=0.0)
    for step in reversed(episode.steps):
        if step.arguments:
            names = sorted(step.arguments)
            name = names[int(content_hash(episode.id)[:8], 16) % len(names)]
            return _execution([Finding(kind="argument", step=0, tool=step.tool, argument=name)])
    return None


def case(episode: Episode, stage: Stage) -> Lesson:
    """What was done, kept as it was: advice it is not, and only a like task could make use of it."""
    tools = " ".join(dict.fromkeys(step.tool.replace("_", " ") + "," for step in episode.steps)) or "nothing,"
    asked = " ".join(episode.task.split())[:_LONGEST]
    outcome = "it worked" if episode.success else "it failed"
    return Lesson(
        stage=stage, key=asked, condition=f"the task is: {asked}", action=f"recall that of {tools[:_LONGEST]} {outcome}"
    )


def speaks_of(text: str, tools: Sequence[str], *, least: float = _SPOKEN) -> dict[str, str]:
    """Tools that a text speaks of, most clearly first, each with the rarest of its words there. A tool's words weigh
    1 / (tools that have them); it is spoken of where the text has ``least`` of their weight, and any of them."""
    words = {tool: stems(tool) for tool in tools}
    rarity = Counter(word for of in words.values() for word in of)
    said = stems(text)
    share = {
        tool: sum(1 / rarity[word] for word in of & said) / sum(1 / rarity[word] for word in of)
        for tool, of in words.items()
        if of
    }
    found = {}
    for tool in sorted(share, key=lambda tool: (-share[tool], tool)):
        if share[tool] >= least and share[tool] > 0:
            held = [word for word in tool.lower().split("_") if stems(word) & said]
            found[tool] = min(held, key=lambda word: (min(rarity[s] for s in stems(word)), word))
    return found


def _unused(episode: Episode, *, least: float = _SPOKEN) -> Lesson | None:
    """The tool at hand that the task speaks of most clearly and no step used."""
    used = {step.tool for step in episode.steps}
    spoken = speaks_of(episode.task, _tools(episode), least=least)
    return next((_remember(tool, cue) for tool, cue in spoken.items() if tool not in used), None)


def _remember(tool: str, cue: str) -> Lesson:
    words = tool.replace("_", " ")
    return Lesson(
        stage="planning",
        key=words,
        condition=f"the task speaks of {cue}",
        action=f"give {words} a step of its own in the plan",
    )


def _tools(episode: Episode) -> list[str]:
    """Those at hand, where the context names them."""
    return [name.strip() for name in str(episode.context.get("tools", "")).split(",") if name.strip()]


def _order(replayed: Replayed) -> Lesson | None:
    """A step of the faithful replay that was refused came too late: the one before it stood in its way."""
    for refused in complaints(replayed.steps):
        before = [s for s in replayed.steps[: refused.step - 1] if s.tool not in replayed.idle and not s.error]
        if before and before[-1].tool != refused.tool:
            first, second = refused.tool.replace("_", " "), before[-1].tool.replace("_", " ")
            return Lesson(
                stage="planning",
                key=f"{first} and {second}",
                condition=f"a task needs both {first} and {second}",
                action=f"plan {first} before {second}",
            )
    return None


def _left_out(episode: Episode) -> Lesson | None:
    """What the task asks for and the plan does not mention."""
    plan = set(normalised(episode.plan or "").split())
    for sentence in _SENTENCE.split(episode.task):
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
