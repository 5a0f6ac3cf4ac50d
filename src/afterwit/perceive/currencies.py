"""How currencies are written: signs, words of some twenty languages, ISO 4217 codes."""

import re
from collections.abc import Collection

CODES = frozenset({
    "AED", "ARS", "AUD", "BDT", "BGN", "BHD", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CRC", "CZK", "DKK", "DZD",
    "EGP", "EUR", "GBP", "GEL", "HKD", "HRK", "HUF", "IDR", "ILS", "INR", "IRR", "ISK", "JOD", "JPY", "KES", "KRW",
    "KWD", "KZT", "LKR", "MAD", "MDL", "MXN", "MYR", "NGN", "NOK", "NZD", "OMR", "PEN", "PHP", "PKR", "PLN", "QAR",
    "RON", "RSD", "RUB", "SAR", "SEK", "SGD", "THB", "TND", "TRY", "TWD", "UAH", "USD", "UYU", "UZS", "VND", "ZAR",
})  # fmt: skip

THREE_DECIMALS = frozenset({"BHD", "JOD", "KWD", "OMR", "TND"})

WHOLE = frozenset({"CLP", "COP", "CRC", "HUF", "IDR", "IRR", "ISK", "JPY", "KRW", "KZT", "TWD", "UZS", "VND"})
"""Currencies whose prices have no hundredths."""

SIGNS: dict[str, str] = {
    "€": "EUR", "£": "GBP", "$": "$", "¥": "¥", "￥": "¥", "₹": "INR", "₽": "RUB", "₩": "KRW", "₺": "TRY", "₫": "VND",
    "฿": "THB", "₴": "UAH", "₪": "ILS", "₱": "PHP", "₦": "NGN", "₸": "KZT", "₡": "CRC", "₾": "GEL", "元": "CNY",
    "円": "JPY", "원": "KRW",
    "US$": "USD", "US $": "USD", "AU $": "AUD", "CA $": "CAD", "C $": "CAD", "AU$": "AUD", "A$": "AUD", "CA$": "CAD",
    "C$": "CAD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD",
    "SG$": "SGD", "NT$": "TWD", "R$": "BRL", "MX$": "MXN", "AR$": "ARS", "CLP$": "CLP", "S/": "PEN",
    "ر.س": "SAR", "ريال": "SAR", "د.إ": "AED", "درهم": "AED", "ج.م": "EGP", "د.ك": "KWD", "د.ج": "DZD", "د.م": "MAD",
}  # fmt: skip
"""Sign → code, or the sign itself where several countries write it."""

WORDS: dict[str, str] = {
    "euro": "EUR", "euros": "EUR", "eur": "EUR", "евро": "EUR", "ευρώ": "EUR", "dollar": "$", "dollars": "$",
    "zł": "PLN", "zl": "PLN", "złotych": "PLN", "kč": "CZK", "kc": "CZK",
    "lei": "RON", "lej": "RON", "лв": "BGN", "kn": "HRK", "kr": "kr", "kr.": "kr", "din": "RSD", "дин": "RSD",
    "руб": "RUB", "р": "RUB", "рублей": "RUB", "грн": "UAH", "тг": "KZT", "тенге": "KZT", "tl": "TRY", "rs": "Rs",
    "rs.": "Rs", "rupees": "Rs", "रु": "INR", "रुपये": "INR", "rp": "IDR", "rm": "MYR", "sfr": "CHF",
    "fr.": "CHF", "đ": "VND", "บาท": "THB", "dhs": "AED", "aed": "AED", "yuan": "CNY",
    "yen": "JPY", "won": "KRW", "pesos": "$", "reais": "BRL", "kronor": "SEK", "kroner": "kr",
}  # fmt: skip

CASED: dict[str, str] = {"Ft": "HUF", "R": "ZAR", "SR": "SAR", "LE": "EGP", "Kn": "HRK"}
"""Words that are others, such as feet, in lower case."""

SHARED: dict[str, frozenset[str]] = {
    "$": frozenset({"USD", "AUD", "CAD", "NZD", "HKD", "SGD", "TWD", "MXN", "ARS", "CLP", "COP", "UYU"}),
    "¥": frozenset({"JPY", "CNY"}),
    "kr": frozenset({"SEK", "NOK", "DKK", "ISK"}),
    "Rs": frozenset({"INR", "PKR", "LKR"}),
}
"""Sign → the currencies that are written with it."""

_BEFORE_ONLY = frozenset({"R", "S/"})
_AFTER_ONLY = frozenset({"Ft", "kc", "kč", "р", "din", "zl", "lej", "đ"})


def _alternatives(words: Collection[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def _written(signs: Collection[str], exact: Collection[str], any_case: Collection[str]) -> str:
    words = rf"(?:{_alternatives(exact)}|(?i:{_alternatives(any_case)}))"
    return rf"(?:{_alternatives(signs)}|(?<![^\W\d_]){words}(?![^\W\d_]))"


BEFORE = _written(SIGNS, {*CODES, *CASED} - _AFTER_ONLY, WORDS.keys() - _AFTER_ONLY)
AFTER = _written(SIGNS.keys() - _BEFORE_ONLY, {*CODES, *CASED} - _BEFORE_ONLY, WORDS)
"""Patterns of a currency before and after its amount."""


def currency(written: str) -> str | None:
    """Its code, or the sign where that is all there is; None for what is no currency."""
    text = written.strip(" \u00a0~")
    if found := SIGNS.get(text) or CASED.get(text):
        return found
    if text.upper() in CODES:
        return text.upper()
    folded = text.casefold()
    return WORDS.get(folded) or WORDS.get(folded.rstrip("."))


def same(one: str | None, other: str | None) -> bool:
    """Whether both may mean one currency."""
    if one is None or other is None:
        return one == other
    return bool(SHARED.get(one, frozenset({one})) & SHARED.get(other, frozenset({other})))
