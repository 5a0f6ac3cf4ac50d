"""Whether a lesson can be acted on: it names a condition and an action, and does not restate the outcome."""

import re

from afterwit.model import Episode, Lesson, normalised

_WORDS = re.compile(r"\w+")
# What says how it went and not what to do. Words of other languages fall under the overlap with the feedback.
_OUTCOME_WORDS = """
a an and as at be been because but by did do does done error errors execution fail failed failing fails failure for from
goal had has have in incorrect is it its met no not of on or outcome plan planning result right succeed succeeded
success successful task that the then this to unsuccessful was went were with wrong
"""
_OUTCOME = frozenset(_OUTCOME_WORDS.split())


def why_not_actionable(lesson: Lesson, episode: Episode) -> str | None:
    """The reason to refuse a lesson, None where there is none."""
    for name, text in (("condition", lesson.condition), ("action", lesson.action)):
        if not _words(text):
            return f"it names no {name}"
    content = _words(lesson.action) - _OUTCOME
    if not content:
        return "its action restates the outcome"
    if content <= _words(lesson.condition) - _OUTCOME:
        return "its action restates its condition"
    told = _words(episode.feedback or "") - _OUTCOME
    if told and content <= told and len(content) > 1:
        return "its action restates the feedback"
    return None


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORDS.findall(normalised(text)))
