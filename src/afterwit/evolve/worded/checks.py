"""What the text of a card may say: no more than its evidence holds (law 6)."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from afterwit.model import Card, count_tokens, normalised

Suspicion = Callable[[str], str | None]
"""Why a text looks like more than advice (a loop, a command to the system), None where it does not."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]|\w+")  # one character each where none are spaced
_APOSTROPHE = re.compile("['’]")
_AGAINST = """
avoid dont not never no without skip drop leave instead rather évite éviter évitez pas jamais sans nicht nie kein
keine keinen ohne vermeide vermeiden evita evitar evite nunca jamás sin não sem niet nooit zonder
"""
_AVOIDING = frozenset(_AGAINST.split())


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """sources: the texts whose words and numbers a card may use. values: context values that its condition does not
    name, which it may therefore not mention. tokens: the most it may hold with its key."""

    sources: tuple[str, ...]
    values: frozenset[str] = frozenset()
    tokens: int = 60


def why_refused(text: str, card: Card, allowed: Allowed, suspicion: Suspicion | None = None) -> str | None:
    """The reason why a card may not say this, None where it may."""
    if not text.strip():
        return "it says nothing"
    if count_tokens(card.key) + count_tokens(text) > allowed.tokens:
        return f"it is longer than {allowed.tokens} tokens with its key"
    if "\n" in text.strip():
        return "it is more than one line"
    if suspicion is not None and (why := suspicion(text)):
        return why
    given = {number for source in allowed.sources for number in _NUMBER.findall(source)}
    if foreign := [number for number in _NUMBER.findall(text) if number not in given]:
        return f"the number {foreign[0]} is not in the evidence"
    words = _words([text])
    if named := sorted(value for value in allowed.values if _words([value]) and _words([value]) <= words):
        return f"it names the context {named[0]!r}, which its condition does not hold"
    if script_of(text) != script_of(" ".join(allowed.sources)):
        return "it is in another script than its sources"
    own = _content(allowed.sources[:1])
    if own and len(own & words) * 2 < len(own):
        return "it does not say what the evidence is about"
    if card.stance is not None and _AVOIDING & _words(allowed.sources[:1]) and not _AVOIDING & words:
        return "it turns advice against something into advice for it"
    if card.stance is not None and card.stance.prefer and _AVOIDING & words - _words(allowed.sources):
        return "it turns advice for something into advice against it"
    return None


def script_of(text: str) -> str:
    """The script that most letters are of, by their Unicode names; empty for a text without letters."""
    letters = Counter(unicodedata.name(c, "?").split()[0] for c in text if c.isalpha())
    return letters.most_common(1)[0][0] if letters else ""


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(
        word for text in texts for word in _WORD.findall(normalised(text).replace("’", "").replace("'", ""))
    )


def _content(texts: Collection[str]) -> frozenset[str]:
    """Words that carry meaning: four letters or more, or of a script without spaces."""
    skip = {"prefer", "avoid", "with", "that", "this", "where", "when", "text", "word", "words"}
    return frozenset(w for w in _words(texts) - skip if len(w) >= 4 or not w.isascii())
