"""Amounts of money in a line of text, as some twenty languages write them."""

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal

from afterwit.perceive.currencies import AFTER, BEFORE, CASED, SHARED, THREE_DECIMALS, currency, same

_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_LIKE = str.maketrans(
    {"٫": ".", "٬": ",", "’": "'", "‘": "'", "′": "'", "–": "-", "—": "-", "−": "-", "．": ".", "，": ","}
)

_NUMBER = re.compile(
    r"(?<![\d.,])(?:(?<=[^\W\d_])|(?<![^\W_]))(?P<number>"
    r"\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d{1,2})?"  # 12,34,567.00
    r"|\d{1,3}(?P<mark>[.,' ])\d{3}(?:(?P=mark)\d{3})*(?:[.,]\d{1,2})?"  # 1.234.567,89
    r"|\d+(?:[.,]\d{1,3})?"  # 1234,5
    r")(?!\d)(?![.,]\d)(?:[.,]-{1,2}|-(?=\s|$))?"
)
_BEFORE = re.compile(rf"({BEFORE})[\s:]{{0,2}}$")
_AFTER = re.compile(rf"\s{{0,2}}({AFTER})")
_SMALL_CENTS = re.compile(rf"\s*((?:{BEFORE})?\s?)(\d{{1,5}})\s(\d{{2}})(\s?(?:{AFTER})?)\s*")
_CENTS = re.compile(r"(\d{2})(?!\d)")


@dataclass(frozen=True, kw_only=True)
class Amount:
    """value; currency: see `currencies.currency`, None for a bare number; start, end: where it stands in the line."""

    value: Decimal
    currency: str | None
    start: int
    end: int


def amounts(text: str) -> tuple[Amount, ...]:
    """Numbers with a currency beside them, left to right."""
    plain = plainly(text)
    if small := _SMALL_CENTS.fullmatch(plain):
        plain = f"{small[1]}{small[2]}.{small[3]}{small[4]}"
    found: list[Amount] = []
    for match in _NUMBER.finditer(plain):
        digits, start, end = match["number"], match.start(), match.end()
        if found and start < found[-1].end:
            continue
        before, after = _BEFORE.search(plain, max(0, start - 12), start), _AFTER.match(plain, end)
        if before and before[1] in CASED and plain[end : end + 1].isalpha():
            continue  # room R 12b
        codes = [code for written in (before, after) if written and (code := currency(written[1]))]
        if not codes:
            continue
        code = codes[-1] if codes[0] in SHARED and same(codes[0], codes[-1]) else codes[0]  # $ 12.50 CAD
        if before is not None:
            start = before.start()
        else:
            assert after is not None
            end = after.end()
            if digits.isdigit() and (cents := _CENTS.match(plain, end)):
                digits, end = f"{digits}.{cents[1]}", cents.end()  # 12€50
        value = number(digits, code)
        if value is not None:
            found.append(Amount(value=value, currency=code, start=start, end=end))
    return tuple(found)


def bare(text: str) -> Amount | None:
    """The only number of a text that is little else than it, for where a label says that it is a price."""
    plain = plainly(text)
    found = list(_NUMBER.finditer(plain))
    if len(found) != 1:
        return None
    value = number(found[0]["number"], None)
    return None if value is None else Amount(value=value, currency=None, start=found[0].start(), end=found[0].end())


def numbers(text: str) -> frozenset[Decimal]:
    """All that stand in a text, with or without a currency; small cents read as such."""
    plain = plainly(text)
    found = {number(match["number"]) for match in _NUMBER.finditer(plain)}
    if small := _SMALL_CENTS.fullmatch(plain):
        found.add(number(f"{small[2]}.{small[3]}"))
    return frozenset(value for value in found if value is not None)


def number(digits: str, code: str | None = None) -> Decimal | None:
    """``1.234,50`` → 1234.50. One separator before three digits groups thousands, as prices with three decimals are
    few: those of some dinars and rials, and those under one."""
    text = digits.replace(" ", "").replace("'", "")
    marks = [mark for mark in text if mark in ".,"]
    if not marks:
        whole, part = text, ""
    else:
        last = max(text.rfind("."), text.rfind(","))
        part = text[last + 1 :]
        decimal = len(part) != 3 or (len(marks) == 1 and (code in THREE_DECIMALS or text[:last].strip("0") == ""))
        whole, part = (text[:last], part) if decimal else (text, "")
        whole = whole.replace(".", "").replace(",", "")
    if not whole.isdigit() or len(whole) > 12:
        return None
    return Decimal(f"{whole}.{part}" if part else whole)


def plainly(text: str) -> str:
    """The same length, with digits, spaces and marks of other scripts as ASCII has them."""
    spaced = _SPACES.sub(" ", text).translate(_LIKE)
    return "".join(str(unicodedata.decimal(mark)) if mark.isdecimal() else mark for mark in spaced)
