"""Which of the amounts on a page is the price of its item."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from afterwit.model.page import TextLine
from afterwit.perceive import labels, words
from afterwit.perceive.amounts import Amount, amounts, bare
from afterwit.perceive.currencies import CODES, SHARED, same
from afterwit.perceive.title import Region

_FOR_HEADING = {1: 2.0, 2: 1.5, 3: 0.8, 0: 0.0}
_AGAINST_BEFORE = ((words.WAS, 4.0), (words.CARRIAGE, 3.5), (words.INSTALMENT, 3.0),
                   (words.BASKET, 3.0), (words.OTHERS, 1.5))  # fmt: skip
_AGAINST_AFTER = ((words.SAVED, 3.5), (words.CARRIAGE, 2.0), (words.INSTALMENT, 3.0))
_UNSIGNED = -2.2
"""Of a number without a currency, which a reader may have lost: only where nothing better is found."""

_LEAST, _LEAST_GONE = -2.5, -1.0
_CODE = re.compile(r"(?<![^\W_])[A-Z]{3}(?![^\W_])")
_SENTENCE = 14
_AND_SO_ON = re.compile(r"\s?/\s?\w{0,3}\s?")
"""Between two amounts of which the same is said."""


@dataclass(frozen=True, kw_only=True)
class Price:
    now: Decimal
    currency: str | None
    was: Decimal | None = None


@dataclass(frozen=True, kw_only=True)
class Rated:
    """An amount in its place. old: it is struck, or words say that it was asked before; named_old: its document's
    labels do. untaxed: words say that tax is still to come."""

    amount: Amount
    line: int
    score: float
    old: bool
    named_old: bool = False
    untaxed: bool = False


def rated(lines: Sequence[TextLine], plain: Sequence[str], item: Region) -> tuple[Rated, ...]:
    """Our own weights: the size of the type, words before and after the amount, what its document calls it, how near it
    is to title and button, and how often it is repeated. Amounts of zero are no prices."""
    quotes = list(_quotes(lines, plain, item))
    own = [quote for quote in quotes if quote.line >= item.first - 1]
    seen = Counter(quote.amount.value for quote in own)
    return tuple(
        replace(
            quote,
            score=quote.score + min(1.5, 0.5 * max(0, seen[quote.amount.value] - 1)) - _against(quote, own, lines),
        )
        for quote in quotes
    )


def price(quotes: Sequence[Rated], lines: Sequence[TextLine], *, gone: bool = False) -> Price | None:
    """gone: the item is out of stock, and as its price is often left out then, only a clear one is taken, not that of
    something else."""
    best = max(quotes, key=lambda one: (one.score, -one.line, -one.amount.start), default=None)
    if best is None or best.score < (_LEAST_GONE if gone else _LEAST):
        return None
    earlier = [
        quote.amount.value
        for quote in quotes
        if (quote.old or quote.named_old)
        and abs(quote.line - best.line) <= 6
        and quote.amount.value > best.amount.value
        and same(quote.amount.currency, best.amount.currency)
    ]
    return Price(now=best.amount.value, currency=_exactly(best.amount.currency, lines), was=min(earlier, default=None))


def _quotes(lines: Sequence[TextLine], plain: Sequence[str], item: Region) -> Iterator[Rated]:
    buttons = [at for at in range(item.end) if words.BUY.search(plain[at]) and len(plain[at].split()) <= 8]
    for at in range(item.end):
        line = lines[at]
        found = amounts(line.text)
        if not found and (alone := bare(line.text)):
            if _labelled(plain, at, line.text[: alone.start]):
                found = (alone,)
            elif _stands_alone(line.text, alone) and item.last < at and any(0 < place - at <= 4 for place in buttons):
                yield Rated(amount=alone, line=at, score=_UNSIGNED, old=line.struck)
        earlier = ""
        for place, amount in enumerate(found):
            if amount.value <= 0:
                continue
            start = found[place - 1].end if place else 0
            stop = found[place + 1].start if place + 1 < len(found) else len(line.text)
            before, after = line.text[start : amount.start], line.text[amount.end : stop]
            if place and _AND_SO_ON.fullmatch(before):  # was: large 560 / small 355
                before = f"{earlier} {before}"
            earlier = before
            yield _quote(lines, plain, item, buttons, at, amount, before, after)


def _quote(
    lines: Sequence[TextLine],
    plain: Sequence[str],
    item: Region,
    buttons: Sequence[int],
    at: int,
    amount: Amount,
    before: str,
    after: str,
) -> Rated:
    line = lines[at]
    said = words.folded(before)
    if not re.search(r"\w", said) and _speaks(lines, plain, at - 1):
        said = plain[at - 1]
    told = words.folded(after)[:40]
    old = line.struck or bool(words.WAS.search(said))
    score = _FOR_HEADING[line.heading] + labels.prices(line)
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
    untaxed = bool(words.UNTAXED.search(said) or words.UNTAXED.search(told))
    return Rated(amount=amount, line=at, score=score, old=old, named_old=labels.old(line), untaxed=untaxed)


def _speaks(lines: Sequence[TextLine], plain: Sequence[str], at: int) -> bool:
    """Whether a line may be about the amount that stands alone below it."""
    return at >= 0 and len(plain[at].split()) <= 8 and not amounts(lines[at].text)


def _length(plain: str) -> int:
    """Words; of scripts without spaces two or three letters count as one."""
    return max(len(plain.split()), sum(ord(mark) >= 0x2E80 for mark in plain) // 2)


def _stands_alone(text: str, alone: Amount) -> bool:
    """A number of two digits at least with nothing but a letter or two of its line's."""
    return alone.value >= 10 and sum(mark.isalpha() for mark in text) <= 2 and "%" not in text and ":" not in text


def _labelled(plain: Sequence[str], at: int, before: str) -> bool:
    """Whether a number without a currency is called a price: by the words before it, or a short line above."""
    said = words.folded(before) or (plain[at - 1] if at and len(plain[at - 1].split()) <= 3 else "")
    return bool(words.NOW.search(said)) and len(said.split()) <= 4


def _against(quote: Rated, quotes: Sequence[Rated], lines: Sequence[TextLine]) -> float:
    """What an amount loses to those beside it. Labels that call it an earlier price count where they name another; a
    shop that asks for the untaxed price gives it before the taxed one."""
    near = [other for other in quotes if 0 < abs(other.line - quote.line) <= 8]
    lost = 2.0 if quote.named_old and any(labels.priced(lines[other.line]) for other in near) else 0.0
    if quote.untaxed and not any(_taxed(quote, other) for other in quotes):
        lost += 1.5
    if any(other.untaxed and _taxed(other, quote) for other in quotes):
        lost += 1.5
    return lost + _dearer(quote, quotes)


def _taxed(untaxed: Rated, other: Rated) -> bool:
    """Whether the other, right behind the first, is the same with tax."""
    apart = (other.line - untaxed.line, other.amount.start - untaxed.amount.start)
    return (0, 0) < apart < (3, 0) and 1 < other.amount.value / untaxed.amount.value < Decimal("1.3")


def _dearer(quote: Rated, quotes: Sequence[Rated]) -> float:
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
