"""What a profile must never say: read from a sentence, and checked line by line on every version."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from afterwit.digest.terms import words
from afterwit.errors import InputError

_NEVER = re.compile(r"^\s*(?:never|do not|don't)\s+(?:mention|store|keep|remember|say)\s+(.+?)[.!]?\s*$", re.IGNORECASE)
_APART = re.compile(r"\s*(?:,|;|\bor\b|\band\b)\s*", re.IGNORECASE)
_STEM = 4  # a longer word forbids all that begin with it: health, healthy, healthcare


@dataclass(frozen=True)
class Constraint:
    """said: as the person wrote it. topics: each the words that must not stand together in one line."""

    said: str
    topics: tuple[frozenset[str], ...]

    @staticmethod
    def read(said: str) -> "Constraint":
        """Raises InputError for a sentence that cannot be checked."""
        found = _NEVER.match(said)
        topics = [frozenset(words(part)) for part in _APART.split(found.group(1))] if found else []
        if not topics or not all(topics):
            raise InputError(
                f"the constraint {said!r} cannot be checked: write it as 'never mention WORDS', topics apart by commas"
            )
        return Constraint(" ".join(said.split()), tuple(topics))

    def broken_by(self, line: str) -> bool:
        there = words(line)
        return any(all(any(_same(word, one) for one in there) for word in topic) for topic in self.topics)


def kept(lines: Sequence[str], constraints: Sequence[Constraint]) -> list[str]:
    """The lines that break none."""
    return [line for line in lines if not any(c.broken_by(line) for c in constraints)]


def _same(forbidden: str, word: str) -> bool:
    return word == forbidden or (len(forbidden) >= _STEM and word.startswith(forbidden))
