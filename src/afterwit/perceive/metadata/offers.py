"""Prices in the shapes that offers have."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from afterwit.model.page import Availability
from afterwit.perceive.amounts import amounts, number, plainly
from afterwit.perceive.currencies import THREE_DECIMALS, WHOLE, currency
from afterwit.perceive.metadata.linked import listed

_GONE = re.compile(r"out_?of_?stock|sold_?out|discontinued", re.IGNORECASE)
_THERE = re.compile(
    r"in_?stock|limited_?availability|in_?store_?only|online_?only|pre_?(?:order|sale)|back_?order", re.IGNORECASE
)
_EARLIER = re.compile(r"list_?price|strike|srp|msrp|regular|original", re.IGNORECASE)
_PLAIN = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)
_CENT = Decimal("0.01")


@dataclass(frozen=True, kw_only=True)
class Offer:
    """prices: the likeliest first. was: before a reduction."""

    prices: tuple[Decimal, ...] = ()
    was: Decimal | None = None
    currency: str | None = None
    availability: Availability | None = None

    @property
    def price(self) -> Decimal | None:
        return self.prices[0] if self.prices else None


def offer(product: Mapping[str, Any]) -> Offer:
    """The first offer that has a price, of a range its lower end; it is in stock where any of them is, as sizes are
    offers of their own."""
    offers = [one for one in listed(product.get("offers")) if isinstance(one, Mapping)]
    offers += [inner for one in offers for inner in listed(one.get("offers")) if isinstance(inner, Mapping)]
    if not offers and product.get("price") is not None:
        offers = [product]
    said = [availability(text(one.get("availability"))) for one in offers]
    there: Availability | None = "in stock" if "in stock" in said else next(filter(None, said), None)
    parts = [part for one in offers for part in (one, *_specified(one))]
    code = first(currency(written) for part in parts if (written := text(part.get("priceCurrency"))))
    prices: list[Decimal] = []
    earlier: list[Decimal] = []
    others: list[Decimal] = []
    for part in parts:
        for key in ("price", "lowPrice", "highPrice"):
            if (price := money(part.get(key), code)) is not None:
                (earlier if _EARLIER.search(text(part.get("priceType")) or "") else prices).append(price)
                others.extend(_thousands(part.get(key)))
    for part in parts:
        code = code or next((one.currency for one in amounts(text(part.get("price")) or "") if one.currency), None)
    chosen = tuple(dict.fromkeys((*(prices or earlier), *others)))
    was = next((one for one in earlier if chosen and one > chosen[0]), None)
    return Offer(prices=chosen, was=was, currency=code, availability=there)


def _specified(one: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Its price specifications, those for a quantity, such as a kilogram, aside."""
    for part in listed(one.get("priceSpecification")):
        if isinstance(part, Mapping) and not part.get("referenceQuantity"):
            yield part


def money(value: object, code: str | None) -> Decimal | None:
    """Numbers come with a point; where a page writes them as people do, they are read as people do. Three decimals are
    thousands where the currency has no hundredths."""
    written = text(value)
    if written is None:
        return None
    plain = plainly(written).strip()
    if _PLAIN.fullmatch(plain):
        found: Decimal | None = Decimal(plain)
        if code in WHOLE and re.fullmatch(r"\d{1,3}\.\d{3}", plain):
            found = Decimal(plain.replace(".", ""))
    elif said := amounts(plain):
        found = said[0].value
    else:
        digits = re.search(r"\d[\d.,' ]*", plain)
        found = number(digits[0].strip(" .,'"), code) if digits else None
    if found is None or not 0 < found < 10**12:
        return None
    if -int(found.as_tuple().exponent) > 2 and code not in THREE_DECIMALS:
        return found.quantize(_CENT, rounding=ROUND_HALF_UP) or None
    return found


def _thousands(value: object) -> Iterator[Decimal]:
    """``1.299`` is a number by the rules of JSON, and 1299 where it was written for people."""
    if re.fullmatch(r"\d{1,3}\.\d{3}", written := text(value) or ""):
        yield Decimal(written.replace(".", ""))


def availability(written: str | None) -> Availability | None:
    if written is None:
        return None
    plain = written.replace(" ", "")
    return "out of stock" if _GONE.search(plain) else "in stock" if _THERE.search(plain) else None


def text(value: object) -> str | None:
    for part in listed(value):
        if isinstance(part, Mapping):
            part = part.get("@value")
        if isinstance(part, str | int | float) and not isinstance(part, bool):
            return " ".join(str(part).split()) or None
    return None


def first(values: Any) -> str | None:
    return next((value for value in values if value), None)
