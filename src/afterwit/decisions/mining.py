"""Candidate decisions in any text: words, adjacent pairs, stems, and length.

Our reconstruction. Which of them are worth a look is decided later, by how often they vary inside strata.
"""

import re
import unicodedata
from functools import cache
from itertools import pairwise

MINED = frozenset({"word", "pair", "stem", "length"})
"""Names of mined decisions; every other name comes from a vocabulary or an agent."""


def is_mined(decision: str) -> bool:
    return decision.partition("=")[0] in MINED


# Scripts written without spaces: every character is a token of its own, so that pairs are its bigrams.
_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_FLAG = "\U0001f1e6-\U0001f1ff"
_SKIN = "\U0001f3fb-\U0001f3ff"
_JOINERS = "\u200c\u200d"
_STEM = 5
_SHOWN = 60
_LENGTHS = (5, 7, 9, 11, 13, 15, 17, 19, 22, 26, 30)
# One sign for all apostrophes, and none that only picks the coloured or the plain form of an emoji.
_ONE_FORM = str.maketrans({"’": "'", "ʼ": "'", "\ufe0e": None, "\ufe0f": None})


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
    """Case-folded NFC tokens: words with their inner apostrophes and marks, single dense characters, single signs.

    An emoji is one token with its skin tone and whatever is joined to it; so are the two letters of a flag.
    """
    folded = unicodedata.normalize("NFC", text).translate(_ONE_FORM).casefold()
    return _pattern().findall(unicodedata.normalize("NFC", folded))


def description_of(key: str) -> str:
    """What a mined or declared decision is called in a sentence."""
    name, _, value = key.partition("=")
    if name == "word":
        return f"“{value}”"
    if name == "pair" and (cut := value.find("+", 1)) > 0:  # a token that begins with + is that sign alone
        return f"“{value[:cut]} {value[cut + 1 :]}”"
    if name == "stem":
        return f"words beginning with “{value}”"
    if name == "like":
        text = value.partition("|")[2]
        return f"texts like “{text if len(text) <= _SHOWN else text[: _SHOWN - 1].rstrip() + '…'}”"
    if name == "length":
        return f"{value.removesuffix('+')} words or more"
    return f"{value} as {name}"


@cache
def _pattern() -> re.Pattern[str]:
    # `\w` leaves combining vowels out, which would cut words of many scripts in two; planes 0 and 1 hold them all.
    marks = "".join(re.escape(c) for c in map(chr, range(0x20000)) if unicodedata.category(c)[0] == "M")
    letter = rf"[^\W_{_DENSE}]"
    run = rf"{letter}(?:{letter}|[{marks}]|[{_JOINERS}](?={letter}))*"
    sign = rf"[^\w\s{_JOINERS}{marks}][{marks}{_SKIN}]*"
    return re.compile(rf"{run}(?:'{run})*|[{_DENSE}][{marks}]*|[{_FLAG}]{{2}}|{sign}(?:\u200d{sign})*|[{marks}]+")
