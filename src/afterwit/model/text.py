"""Text as people write it, in any script: compared after normalisation, kept as it came."""

import re
import unicodedata

_PIECES = re.compile(r"\d{1,3}|[^\W\d_]+|[^\w\s]|_", re.UNICODE)
_DENSE = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def normalised(text: str) -> str:
    """NFC, case-folded, white space collapsed: two texts are the same iff these are equal."""
    return " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).split())


def count_tokens(text: str) -> int:
    """A tokenizer-free estimate that leans high: a letter run costs one token per 5 characters started,
    a character of a script written without spaces one each, a digit group or punctuation mark one each.

    Our own rule of thumb. It is used for budgets where no model's tokenizer is in use.
    """
    total = 0
    for piece in _PIECES.findall(text):
        dense = len(_DENSE.findall(piece))
        total += dense + -(-(len(piece) - dense) // 5)
    return total
