"""What a document calls its elements: classes, ids and test names, in the English that developers write, with a few
words of other languages."""

import re
from functools import lru_cache
from itertools import pairwise

from afterwit.model.page import TextLine

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")

_PRICE = frozenset({"price", "prices", "preis", "prix", "precio", "preco", "prezzo", "prijs", "cena", "pris", "amount"})
_NOW = frozenset({
    "current", "sale", "special", "final", "our", "now", "actual", "deal", "promo", "selling", "new", "main", "today",
    "aktuell", "buybox", "priceblock", "buy",
})  # fmt: skip
_OLD = frozenset({
    "old", "was", "original", "regular", "compare", "retail", "rrp", "msrp", "before", "crossed", "strike",
    "striked", "striken", "strikethrough", "previous", "uvp", "msrpp", "instead", "alt", "stara", "antes", "barre",
    "del", "past", "crossedout", "linethrough", "oldprice", "listprice",
})  # fmt: skip
_OTHER = frozenset({
    "shipping", "delivery", "unit", "saving", "savings", "save", "saved", "instalment", "instalments",
    "installment", "installments", "monthly", "month", "finance", "financing", "klarna", "afterpay", "deposit",
    "warranty", "insurance", "coupon", "voucher", "bonus", "points", "cashback", "perunit", "lease",
    "minimum", "threshold", "freeshipping", "reward",
})  # fmt: skip
_ELSEWHERE = frozenset({
    "related", "recommend", "recommended", "recommendation", "recommendations", "recommendable", "similar", "upsell",
    "upsells", "crosssell", "crossselling", "cross", "carousel", "recently", "viewed", "sponsored", 
    "accessories", "accessory", "alternatives", "alternative", "suggestions", "suggested", "minicart", 
    "megamenu", "navigation", "footer", "cookie", "cookies", "advert", "advertisement",
    "ads", "popular", "bestseller", "bestsellers", "trending", "fbt", "newsletter", "cookiebar",
    "breadcrumb", "breadcrumbs", "mailing",
})  # fmt: skip
_NEAR = 3
"""Elements outwards in which a line's own label is looked for; what part of the page it stands in may be farther."""


def prices(line: TextLine) -> float:
    """How much its labels speak for an amount in it, any zero; without labels 0."""
    if not line.label:
        return 0.0
    own = [_words(label) for label in line.label[:_NEAR]]
    score = 0.0
    if any(words & _PRICE for words in own):
        score += 1.5 if any(words & _NOW for words in own) else 1.0
    taxed = own[0] & {"tax", "vat"} and not own[0] & {"incl", "including", "include", "inc", "with"}
    score -= 2.0 if own[0] & _OTHER or taxed else 1.0 if any(words & _OTHER for words in own[1:]) else 0.0
    return score - (2.0 if elsewhere(line) else 0.0)


def priced(line: TextLine) -> bool:
    """Whether its labels call an amount in it the price, and no other."""
    return prices(line) >= 1.0 and not old(line)


def old(line: TextLine) -> bool:
    """Whether its own label calls an amount in it an earlier price."""
    own = [_words(label) for label in line.label[:_NEAR]]
    return bool(own) and bool(own[0] & _OLD) and any(words & _PRICE for words in own)


def elsewhere(line: TextLine) -> bool:
    """Whether it stands in a part of the page that is about other items, or leads elsewhere."""
    return any(_words(label) & _ELSEWHERE for label in line.label[:8])


@lru_cache(maxsize=20_000)
def _words(label: str) -> frozenset[str]:
    """Also every two neighbours as one: ``list-price`` says something that ``price-list`` does not."""
    found = [word.casefold() for word in _WORDS.findall(label)]
    return frozenset((*found, *(f"{one}{other}" for one, other in pairwise(found))))
