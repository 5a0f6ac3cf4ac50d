"""Which of the amounts on a page is the price of its item."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from afterwit.model.page import TextLine
from afterwit.perceive import words
from afterwit.perceive.amounts import Amount, amounts, bare
from afterwit.perceive.currencies import CODES, SHARED, same
from afterwit.perceive.title import Region

_FOR_HEADING = {1: 2.0, 2: 1.5, 3: 0.8, 0: 0.0}
_AGAINST_BEFORE = ((words.WAS, 4.0), (words.CARRIAGE, 3.5), (words.INSTALMENT, 3.0),
                   (words.BASKET, 3.0), (words.OTHERS, 1.5), (words.UNTAXED, 1.5))  # fmt: skip
_AGAINST_AFTER = ((words.SAVED, 3.5), (words.CARRIAGE, 2.0), (words.INSTALMENT, 3.0), (words.UNTAXED, 1.5))
_LEAST, _LEAST_GONE = -2.5, -1.0
_CODE = re.compile(r"(?<![^\W_])[A-Z]{3}(?![^\W_])")
_SENTENCE = 14


@dataclass(frozen=True, kw_only=True)
class Price:
    now: Decimal
    currency: str | None
    was: Decimal | None = None


@dataclass(frozen=True, kw_only=True)
class _Quote:
    """An amount in its place. old: it is struck, or words say that it was asked before."""

    amount: Amount
    line: int
    score: float
    old: bool


def price(lines: Sequence[TextLine], plain: Sequence[str], item: Region, *, gone: bool = False) -> Price | None:
    """Our own weights: the size of the type, words before and after the amount, how near it is to title and button,
    and how often it is repeated. Amounts of zero are no prices. gone: the item is out of stock, and as its price is
    often left out then, only a clear one is taken, not that of something else."""
    quotes = list(_quotes(lines, plain, item))
    if not quotes:
        return None
    own = [quote for quote in quotes if quote.line >= item.first - 1]
    seen = Counter(quote.amount.value for quote in own)
    rated = [
        (quote.score + min(1.5, 0.5 * max(0, seen[quote.amount.value] - 1)) - _dearer(quote, own), quote)
        for quote in quotes
    ]
    score, best = max(rated, key=lambda one: (one[0], -one[1].line, -one[1].amount.start))
    if score < (_LEAST_GONE if gone else _LEAST):
        return None
    earlier = [
        quote.amount.value
        for quote in quotes
        if quote.old
        and abs(quote.line - best.line) <= 6
        and quote.amount.value > best.amount.value
        and same(quote.amount.currency, best.amount.currency)
    ]
    return Price(now=best.amount.value, currency=_exactly(best.amount.currency, lines), was=min(earlier, default=None))


def _quotes(lines: Sequence[TextLine], plain: Sequence[str], item: Region) -> Iterator[_Quote]:
    buttons = [at for at in range(item.end) if words.BUY.search(plain[at]) and len(plain[at].split()) <= 8]
    for at in range(item.end):
        line = lines[at]
        found = amounts(line.text)
        if not found and (alone := bare(line.text)) and _labelled(plain, at, line.text[: alone.start]):
            found = (alone,)
        for place, amount in enumerate(found):
            if amount.value <= 0:
                continue
            start = found[place - 1].end if place else 0
            stop = found[place + 1].start if place + 1 < len(found) else len(line.text)
            before, after = line.text[start : amount.start], line.text[amount.end : stop]
            yield _rated(lines, plain, item, buttons, at, amount, before, after)


def _rated(
    lines: Sequence[TextLine],
    plain: Sequence[str],
    item: Region,
    buttons: Sequence[int],
    at: int,
    amount: Amount,
    before: str,
    after: str,
) -> _Quote:
    line = lines[at]
    said = words.folded(before)
    if not re.search(r"\w", said) and _speaks(lines, plain, at - 1):
        said = plain[at - 1]
    told = words.folded(after)[:40]
    old = line.struck or bool(words.WAS.search(said))
    score = _FOR_HEADING[line.heading]
    score -= 4.0 if line.struck else 0.0
    if "%" not in said:  # a reduction in percent stands before the price that it led to
        score -= 3.5 if words.SAVED.search(said) else 0.0
    score -= max((cost for pattern, cost in _AGAINST_BEFORE if pattern.search(said)), default=0.0)
    score -= max((cost for pattern, cost in _AGAINST_AFTER if pattern.search(told)), default=0.0)
    score -= 2.5 if words.UNIT.match(told) or words.UNIT.search(said) else 0.0
    score += 1.2 if words.NOW.search(said) else 0.0
    score -= 3.0 if before.rstrip().endswith(("+", "-", "−", "–")) and len(before.strip()) <= 2 else 0.0
    score -= 2.0 if before.rstrip().endswith("=") else 0.0
    score -= 2.0 if _length(plain[at]) > _SENTENCE else 0.0
    score += 1.0 if amount.end - amount.start >= 0.6 * len(line.text) else 0.0
    if at > item.last:
        score -= min(4.0, (at - item.last) / 12)
    else:
        score -= min(5.0, 1.5 + (item.first - at) / 6)
    score += 1.0 if any(-6 <= button - at <= 14 for button in buttons) else 0.0
    return _Quote(amount=amount, line=at, score=score, old=old)


def _speaks(lines: Sequence[TextLine], plain: Sequence[str], at: int) -> bool:
    """Whether a line may be about the amount that stands alone below it."""
    return at >= 0 and len(plain[at].split()) <= 8 and not amounts(lines[at].text)


def _length(plain: str) -> int:
    """Words; of scripts without spaces two or three letters count as one."""
    return max(len(plain.split()), sum(ord(mark) >= 0x2E80 for mark in plain) // 2)


def _labelled(plain: Sequence[str], at: int, before: str) -> bool:
    """Whether a number without a currency is called a price: by the words before it, or a short line above."""
    said = words.folded(before) or (plain[at - 1] if at and len(plain[at - 1].split()) <= 3 else "")
    return bool(words.NOW.search(said)) and len(said.split()) <= 4


def _dearer(quote: _Quote, quotes: Sequence[_Quote]) -> float:
    """Of two amounts side by side, alike otherwise, the higher is the one before a reduction."""
    for other in quotes:
        if abs(other.line - quote.line) > 2 or not same(other.amount.currency, quote.amount.currency):
            continue
        if 1 < quote.amount.value / other.amount.value <= 5 and abs(other.score - quote.score) < 0.5:
            return 1.0
    return 0.0


def _exactly(currency: str | None, lines: Sequence[TextLine]) -> str | None:
    """A sign that several countries use is theirs whose code the page writes most often."""
    choices = SHARED.get(currency or "", frozenset())
    if not choices:
        return currency
    codes = Counter(code for line in lines for code in _CODE.findall(line.text) if code in CODES and code in choices)
    return codes.most_common(1)[0][0] if codes else currency
