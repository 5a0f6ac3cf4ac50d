"""Text as people write it, in any script: compared after normalisation, kept as it came."""

import re
import unicodedata
import zlib

_PIECES = re.compile(r"\d{1,3}|[^\W\d_]+|[^\w\s]|_", re.UNICODE)
_DENSE = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_RULED = re.compile(r"[\s\-=_*#.|+~\u2500-\u257f]+")


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


def looping(text: str) -> bool:
    """Whether some stretch says one thing over and over, as a model does that cannot stop.

    Our own rule of thumb: 128, 512 or 2,048 bytes in a row (or the whole, where it is shorter) shrink to under a
    fifth. Prose of any script stays above a quarter; ruled lines and blanks do not count.
    """
    data = _RULED.sub(" ", text).strip().encode("utf-8", "replace")
    if len(data) < 128:
        return False
    for size in (128, 512, 2048):
        for start in range(0, max(1, len(data) - size + 1), size // 2):
            stretch = data[start : start + size]
            if len(zlib.compress(stretch)) < len(stretch) / 5:
                return True
        if len(data) <= size:
            break
    return False
