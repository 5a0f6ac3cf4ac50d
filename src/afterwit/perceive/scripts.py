"""Which script a text is written in."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

_NAMES = {
    "LATIN": "Latin", "CYRILLIC": "Cyrillic", "GREEK": "Greek", "ARABIC": "Arabic", "HEBREW": "Hebrew", "THAI": "Thai",
    "HANGUL": "Hangul", "HIRAGANA": "Kana", "KATAKANA": "Kana", "CJK": "Han", "DEVANAGARI": "Devanagari",
    "ARMENIAN": "Armenian", "GEORGIAN": "Georgian", "BENGALI": "Bengali", "TAMIL": "Tamil", "TELUGU": "Telugu",
    "KANNADA": "Kannada", "MALAYALAM": "Malayalam", "GUJARATI": "Gujarati", "GURMUKHI": "Gurmukhi", "KHMER": "Khmer",
    "LAO": "Lao", "MYANMAR": "Myanmar", "SINHALA": "Sinhala", "ETHIOPIC": "Ethiopic",
}  # fmt: skip
_WEIGHTS = {"Han": 3, "Hangul": 2, "Kana": 1}
"""Letters of Latin text that one of these stands for, about."""

_LEAST = 0.2


_LANGUAGES = {
    "ar": "Arabic", "fa": "Arabic", "ur": "Arabic", "he": "Hebrew", "iw": "Hebrew", "ko": "Hangul", "ja": "Kana",
    "zh": "Han", "ru": "Cyrillic", "uk": "Cyrillic", "bg": "Cyrillic", "mk": "Cyrillic", "be": "Cyrillic",
    "kk": "Cyrillic", "el": "Greek", "th": "Thai", "hi": "Devanagari", "mr": "Devanagari", "bn": "Bengali",
    "ta": "Tamil", "te": "Telugu", "hy": "Armenian", "ka": "Georgian",
}  # fmt: skip
_LANGUAGE = re.compile(r"<html\b[^>]*\blang\s*=\s*[\"']?([A-Za-z]{2})\b", re.IGNORECASE)
_FEW = 20
"""Letters in which no script shows yet."""


def language(html: str) -> str | None:
    """What a document says of its language: two letters."""
    match = _LANGUAGE.search(html[:20_000])
    return match[1].casefold() if match else None


def script(texts: Iterable[str], *, language: str | None = None) -> str:
    """The one other than Latin that has a fifth of the letters at least, as names, units and code are Latin everywhere;
    Han beside Kana or Hangul is theirs. of a text without letters, the one of its language."""
    counts = Counter(name for text in texts for mark in text if (name := _script(mark)))
    for name, weight in _WEIGHTS.items():
        counts[name] *= weight
    for name in ("Kana", "Hangul"):
        if counts[name] >= 0.1 * counts["Han"] and counts[name]:
            counts[name] += counts.pop("Han", 0)
    whole = sum(counts.values())
    if whole < _FEW and language in _LANGUAGES:
        return _LANGUAGES[language]
    foreign = [(count, name) for name, count in counts.items() if name != "Latin" and count >= _LEAST * whole and count]
    return max(foreign)[1] if foreign else "Latin"


@lru_cache(maxsize=10_000)
def _script(mark: str) -> str | None:
    if not mark.isalpha():
        return None
    first = unicodedata.name(mark, "").split(" ")[0].split("-")[0]
    return _NAMES.get(first, first.capitalize() or None)
