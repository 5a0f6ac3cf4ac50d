"""Candidate decisions in any text: words, adjacent pairs, stems, and length.

Our reconstruction. Which of them are worth a look is decided later, by how often they vary inside strata.
"""

import re
import sys
import unicodedata
from functools import cache
from itertools import pairwise

# Scripts written without spaces: every character is a token of its own, so that pairs are its bigrams.
_DENSE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_STEM = 5
_LENGTHS = (5, 7, 9, 11, 13, 15, 17, 19, 22, 26, 30)
_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'"})


def mined(text: str) -> frozenset[str]:
    """Keys of every candidate decision that a text shows.

    ``word=…`` and ``pair=a+b`` of adjacent tokens, punctuation and emoji included; ``stem=…``, the first five
    letters of longer words, a cheap language-blind stand-in for a stemmer; ``length=11+``, at least so many words.
    """
    tokens = tokens_of(text)
    words = [token for token in tokens if token[0].isalnum()]
    found = {f"word={token}" for token in tokens}
    found.update(f"pair={one}+{two}" for one, two in pairwise(tokens))
    found.update(f"stem={word[:_STEM]}" for word in words if len(word) > _STEM)
    found.update(f"length={least}+" for least in _LENGTHS if len(words) >= least)
    return frozenset(found)


def tokens_of(text: str) -> list[str]:
    """Case-folded NFC tokens: words with their inner apostrophes and marks, single dense characters, single signs."""
    folded = unicodedata.normalize("NFC", text).translate(_APOSTROPHES).casefold()
    return _pattern().findall(unicodedata.normalize("NFC", folded))


def description_of(key: str) -> str:
    """What a mined or declared decision is called in a sentence."""
    name, _, value = key.partition("=")
    if name == "word":
        return f"“{value}”"
    if name == "pair":
        return "“{} {}”".format(*value.split("+", 1)) if "+" in value else f"“{value}”"
    if name == "stem":
        return f"words beginning with “{value}”"
    if name == "length":
        return f"{value.removesuffix('+')} words or more"
    return f"{value} as {name}"


@cache
def _pattern() -> re.Pattern[str]:
    # `\w` leaves combining vowels and emoji joiners out, which would cut words of many scripts in two.
    every = map(chr, range(sys.maxunicode + 1) if sys.maxunicode < 0x10000 else range(0x10000))
    marks = "".join(re.escape(c) for c in every if unicodedata.category(c) in ("Mn", "Mc", "Me")) + "\u200d"
    letter = rf"[^\W_{_DENSE}]"
    word = rf"{letter}(?:{letter}|[{marks}])*(?:'{letter}(?:{letter}|[{marks}])*)*"
    return re.compile(rf"{word}|[{_DENSE}][{marks}]*|[^\w\s][{marks}\U0001f3fb-\U0001f3ff]*")
