"""What a text says, whatever its spelling: two people who note the same thing note one card.

Compared are compatibility forms (NFKC) without case, decoration and spare space. Decoration is punctuation at the edge
of a word and dashes, dots and bullets that stand alone. What may carry meaning stays: negation, digits with their sign,
point and unit, signs inside or in front of a word (``C++``, ``C#``, ``.NET``, ``-v``, ``don't``), a mark that is itself
spoken of (``“?”``), a question mark, accents. In doubt two texts stay two.
"""

import re
import unicodedata

_DASHES = re.compile("[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_QUOTES = re.compile("[\u2018\u2019\u201a\u201b\u02bc\u2032`\u00b4]")
_SPACED = re.compile("[\u00a0\u202f]+(?=[?!;:%\u00bb])")  # as French sets its marks
_LETTERS_JOINED = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_UNITS = re.compile("([%\u2030\u00b0]|[^\\W\\d_]*[\u0024\u00a3\u20a0-\u20bf\u00a5\u00a2])")
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)")
_OPENING = frozenset("\"'([{<\u00a1\u00bf\u3008-\u300c")
_KEPT_AT_END = frozenset("%#&*@/\\+?")
_ALONE = frozenset(".,;:\u2026-*\u2022\u00b7|\u3002\u3001")
_UNSEEN = frozenset("\u00ad\u200b\u2060\ufeff\u200e\u200f\ufe0e\ufe0f")

# English alone: in other tongues these words are names or verbs.
_ARTICLES = frozenset({"a", "an", "the"})
_POLITE = frozenset({"please", "kindly"})


def said(text: str) -> str:
    """Equal for two texts iff they say the same in the same words; never empty for a text that is not."""
    words = _words(text)
    return " ".join(words) or unicodedata.normalize("NFKC", text).strip()


def nearly_said(text: str) -> tuple[str, ...]:
    """Equal for two texts that differ in which article they use, in an article that opens them, and in politeness.

    An article elsewhere is not nothing: in "plan a" it is a name.
    """
    words = [word for word in _words(text) if word not in _POLITE]
    opened = words[1:] if len(words) > 1 and words[0] == "the" else words
    return tuple("the" if word in _ARTICLES else word for word in opened) or (said(text),)


def _words(text: str) -> list[str]:
    plain = _SPACED.sub("", "".join(map(_spelled, text)))
    plain = _DASHES.sub("-", _QUOTES.sub("'", unicodedata.normalize("NFKC", plain)))
    plain = unicodedata.normalize("NFKC", _EMPHASIS.sub(r"\2", plain).casefold())
    pieces = _UNITS.sub(r" \1 ", _LETTERS_JOINED.sub(" ", plain)).replace("...", "\u2026").split()
    found: list[str] = []
    for place, piece in enumerate(pieces):
        last = place == len(pieces) - 1
        if all(c in _ALONE or (last and c == "!") for c in piece):
            continue
        found.extend(_bare(piece))
    return found


def _spelled(c: str) -> str:
    """Characters that compatibility forms would make something else of: 10² is not 102, 1½ not 11/2."""
    if c in _UNSEEN:
        return ""
    kind = unicodedata.decomposition(c).partition(" ")[0]
    return {"<super>": f"^{c}", "<sub>": f"_{c}", "<fraction>": f" {c}"}.get(kind, c)


def _bare(piece: str) -> list[str]:
    """A piece between spaces without what decorates its edges; as it is where nothing would be left."""
    start, end = 0, len(piece)
    while start < end and _opens(piece, start):
        start += 1
    while end > start and _closes(piece[end - 1]):
        end -= 1
    if start == end:
        return [piece]
    asked = "?" in piece[end:] or piece[end - 1] == "?"
    core = piece[start:end].rstrip("?")
    return [*([core] if core else []), *(["?"] if asked else [])]


def _opens(piece: str, at: int) -> bool:
    c = piece[at]
    if c == "\u2026":
        return True
    return c in "\"'\u00a1\u00bf\u2022" or unicodedata.category(c) in ("Ps", "Pi", "Pf")


def _closes(c: str) -> bool:
    return c not in _KEPT_AT_END and (c == "-" or unicodedata.category(c) in ("Po", "Pe", "Pf", "Pi"))
