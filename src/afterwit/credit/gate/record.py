"""What the record of an episode shows by itself: faults from outside, departures from the plan, arguments from nowhere.

Our reconstruction of CHIME's attribution without a model. It reads words, in any language that separates them; what the
tools' names and the plan do not share it cannot see.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from afterwit.model import Episode, Step, normalised

_EXTERNAL = re.compile(
    r"\b(time[d ]?[- ]?out|timeout|unavailable|overloaded|connection|network|rate[ -]?limit\w*|too many requests|"
    r"temporar\w+|try again later|internal server error|bad gateway|gateway|service error|maintenance|50[0234]|429)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.;!?\n。！？]+")
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SKIPPED = "a an and at by do for from get in is it of on or set that the their then this to via with"
_SKIP = frozenset(_SKIPPED.split())
_STEM = 5
_SHORTEST = 3


@dataclass(frozen=True, kw_only=True)
class Finding:
    """step: its number, from 1; 0 where a step is lacking. tool, argument: where it lies. told: what the tool said, the
    plan's sentence, the value, or the tool that was meant.

    kind: external, refused, unplanned, undone, unsupported of the record; argument, instead, missing and unplanned of
    a comparison with a replay.
    """

    kind: str
    step: int
    tool: str = ""
    argument: str = ""
    told: str = ""


def external(step: Step) -> bool:
    """Whether a step's error comes from the environment, and not from what the tool was given."""
    return bool(step.error and _EXTERNAL.search(step.error))


def external_faults(episode: Episode) -> list[Finding]:
    """Errors that come from the environment where the same call did not get through later, with whatever answer."""
    found = []
    for i, step in enumerate(episode.steps):
        same = (
            later for later in episode.steps[i + 1 :] if (later.tool, later.arguments) == (step.tool, step.arguments)
        )
        if external(step) and all(external(later) for later in same):
            found.append(Finding(kind="external", step=i + 1, tool=step.tool, told=step.error or ""))
    return found


def complaints(steps: Sequence[Step]) -> list[Finding]:
    """Errors by which a tool refuses what it was given."""
    return [
        Finding(kind="refused", step=i, tool=step.tool, told=step.error)
        for i, step in enumerate(steps, 1)
        if step.error and not external(step)
    ]


def departures(episode: Episode) -> list[Finding]:
    """Steps that no sentence of the plan speaks of, and sentences that speak of a tool in use but got no step."""
    sentences = [(text, stems(text)) for text in _SENTENCE.split(episode.plan or "") if text.strip()]
    if not sentences:
        return []
    found, met = [], set()
    for i, step in enumerate(episode.steps, 1):
        spoken = [k for k, (_, words) in enumerate(sentences) if _speaks_of(words, step)]
        met.update(spoken)
        if not spoken:
            found.append(Finding(kind="unplanned", step=i, tool=step.tool))
    tools = [stems(_CAMEL.sub(" ", step.tool)) for step in episode.steps]
    for k, (text, words) in enumerate(sentences):
        if k not in met and not any(tool & words for tool in tools):
            found.append(Finding(kind="undone", step=0, told=text.strip()))
    return found


def unsupported(episode: Episode) -> list[Finding]:
    """Arguments whose value stands neither in task, context or plan, nor in what an earlier step returned."""
    seen = normalised(" ".join([episode.task, episode.plan or "", *map(str, episode.context.values())]))
    found = []
    for i, step in enumerate(episode.steps, 1):
        for name, value in _leaves(step.arguments):
            text = normalised(str(value))
            if len(text) >= _SHORTEST and not isinstance(value, bool) and not _stands_in(text, seen):
                found.append(Finding(kind="unsupported", step=i, tool=step.tool, argument=name, told=str(value)))
        seen += " " + normalised(step.result or "")
    return found


def _speaks_of(sentence: frozenset[str], step: Step) -> bool:
    tool = stems(_CAMEL.sub(" ", step.tool))
    return bool(tool) and 2 * len(tool & sentence) >= len(tool)


def _stands_in(text: str, seen: str) -> bool:
    words = _WORD.findall(text)
    return text in seen or (bool(words) and all(word in seen for word in words))


def stems(text: str) -> frozenset[str]:
    return frozenset(w[:_STEM] for w in _WORD.findall(normalised(text.replace("_", " "))) if w not in _SKIP)


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _leaves(part, str(key))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _leaves(part, name)
    elif value is not None:
        yield name, value
