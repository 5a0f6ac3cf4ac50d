"""Words of a text in any script, and how much each says."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import unescape
from itertools import pairwise

from afterwit.model import normalised

_WORD = re.compile(r"[^\W_]+")
_DENSE = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+")
_COMMON = """
a an and are as at be but by for from has have in is it its my no not of on one or our so that the this to was we
with you your
au aux avec dans de des du en et la le les par pour sur un une
aus das dem den der des die ein eine für im ist mit und von zu zum zur
con de del el en la las los para por un una y
da do e em o os um uma com
il lo gli di del della per un una che
"""
_SKIPPED = frozenset(_COMMON.split())


def words(text: str) -> list[str]:
    """Lower-cased words without function words of the commonest languages; of scripts written without spaces pairs of
    characters, as there are no words to be seen."""
    found = []
    for word in _WORD.findall(normalised(unescape(text))):
        if _DENSE.search(word):
            for part in _DENSE.findall(word):
                found += ["".join(pair) for pair in pairwise(part)] or [part]
            found += [rest for rest in _DENSE.split(word) if rest]
        elif word not in _SKIPPED:
            found.append(word)
    return found


@dataclass(frozen=True)
class Rarity:
    """How rare words are among ``texts`` texts: the inverse document frequency of BM25 (Robertson & Zaragoza 2009)."""

    texts: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)

    @staticmethod
    def of(texts: Iterable[str]) -> "Rarity":
        counts: Counter[str] = Counter()
        n = 0
        for text in texts:
            n += 1
            counts.update(set(words(text)))
        return Rarity(n, counts)

    def __call__(self, word: str) -> float:
        """ln(1 + (N − n + ½) / (n + ½)); 1 where no texts are known, so that all words say as much."""
        if not self.texts:
            return 1.0
        n = self.counts.get(word, 0)
        return math.log1p((self.texts - n + 0.5) / (n + 0.5))
