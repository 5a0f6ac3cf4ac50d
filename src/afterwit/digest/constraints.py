"""What a profile must never say: read from a sentence, and checked line by line on every version."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from afterwit.digest.terms import words
from afterwit.errors import InputError
from afterwit.guard.text import plain

_NEVER = re.compile(r"^\s*(?:never|do not|don't)\s+(?:mention|store|keep|remember|say)\s+(.+?)[.!]?\s*$", re.IGNORECASE)
_APART = re.compile(r"\s*(?:,|;|\bor\b|\band\b)\s*", re.IGNORECASE)
_DENSE = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_STEM, _PART = (
    4,
    5,
)  # letters from which on a word forbids what begins with it (health, healthy) or holds it (unhealthy)


@dataclass(frozen=True)
class Constraint:
    """said: as the person wrote it. topics: each as it is compared; all words of one must stand in a line to break it.

    Width, accents and characters that are not seen make no difference; other words for the same thing do.
    """

    said: str
    topics: tuple[str, ...]

    @staticmethod
    def read(said: str) -> "Constraint":
        """Raises InputError for a sentence that cannot be checked."""
        found = _NEVER.match(said)
        topics = tuple(plain(part).strip() for part in _APART.split(found.group(1))) if found else ()
        if not topics or not all(words(topic) for topic in topics):
            raise InputError(
                f"the constraint {said!r} cannot be checked: write it as 'never mention WORDS', topics apart by commas"
            )
        return Constraint(" ".join(said.split()), topics)

    def broken_by(self, line: str) -> bool:
        bare = plain(line)
        there = words(bare)
        return any(_told(topic, bare, there) for topic in self.topics)


def kept(lines: Sequence[str], constraints: Sequence[Constraint]) -> list[str]:
    """The lines that break none."""
    return [line for line in lines if not any(c.broken_by(line) for c in constraints)]


def _told(topic: str, line: str, there: Sequence[str]) -> bool:
    if _DENSE.search(topic):
        return "".join(topic.split()) in "".join(line.split())
    return all(any(_same(word, one) for one in there) for word in words(topic))


def _same(forbidden: str, word: str) -> bool:
    if len(forbidden) >= _PART:
        return forbidden in word
    return word == forbidden or (len(forbidden) >= _STEM and word.startswith(forbidden))
