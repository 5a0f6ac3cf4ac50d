"""The state that a page's scripts start from: numbers under keys that speak of a price, in whatever shape they stand.

No script is run or parsed: JSON, JSON inside strings and objects of JavaScript write a key and its value alike.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal

from afterwit.perceive.metadata.offers import money
from afterwit.perceive.reading import Quote

_QUOTE = r"(?:\\*[\"']|&quot;)?"
_PRICE = re.compile(
    rf"(?<![\w$-]){_QUOTE}(?P<key>[A-Za-z_$][\w-]{{0,40}}){_QUOTE}\s*[:=]\s*{_QUOTE}(?P<sign>[^\w\s\"'\\;&]{{1,3}}\s?)?"
    r"(?P<number>\d[\d.,]{0,14}\d|\d)(?![\w.])"
)
_NAME = re.compile(
    rf"(?<![\w$-]){_QUOTE}(?:brand|brandName|brand_name|item_brand|productBrand|product_brand|manufacturer|vendor){_QUOTE}"
    rf"\s*[:=]\s*(?:\{{[^{{}}]{{0,80}}?{_QUOTE}name{_QUOTE}\s*:\s*)?(?P<mark>\\*[\"'])(?P<name>[^\"'\\<>{{}}]{{2,50}})(?P=mark)",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PRICED = frozenset({"price", "prices", "amount", "preis", "prix", "precio", "preco", "prezzo", "prijs", "cena", "prc"})
_OLD = frozenset({
    "old", "was", "list", "original", "regular", "compare", "retail", "rrp", "msrp", "before", "crossed", "strike",
    "previous", "base", "uvp", "market", "reference", "recommended",
})  # fmt: skip
_OTHER = frozenset({
    "shipping", "delivery", "ship", "tax", "vat", "unit", "per", "discount", "saving", "savings", "save", "max",
    "range", "filter", "from", "to", "cart", "total", "free", "threshold", "instalment", "installment", "monthly",
    "deposit", "drop", "id", "index", "count", "level", "type", "score", "step", "valid", "until", "order", "percent",
    "rate", "off",
})  # fmt: skip
_MOST = 400


def quotes(scripts: Iterable[str], attributes: Iterable[tuple[str, str]], code: str | None) -> tuple[Quote, ...]:
    """Each value once a place, the first most likely of the item itself."""
    found: dict[tuple[str, Decimal, bool], int] = {}
    for place, key, written in (*_keyed(scripts), *(("attribute", *pair) for pair in attributes)):
        words = {word.casefold() for word in _WORDS.findall(key)}
        if not words & _PRICED or words & _OTHER or len(found) >= _MOST:
            continue
        if (value := money(written, code)) is not None:
            found.setdefault((place, value, bool(words & _OLD)), len(found))
    firsts = {place: min(at for (where, _, old), at in found.items() if where == place and not old)
              for place in {where for where, _, old in found if not old}}  # fmt: skip
    return tuple(
        Quote(value=value, place=place, old=old, main=at == firsts.get(place))
        for (place, value, old), at in found.items()
    )


def makers(scripts: Iterable[str]) -> Counter[str]:
    """What scripts call a brand or a maker, with how often."""
    return Counter(match["name"].strip() for text in scripts for match in _NAME.finditer(text) if match["name"].strip())


def _keyed(scripts: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    for text in scripts:
        for match in _PRICE.finditer(text):
            yield "state", match["key"], match["number"]
