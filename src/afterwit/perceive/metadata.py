"""What a page says to machines about its item: JSON-LD, microdata, Open Graph. No one sees it, and it may differ from
what is shown: a third path beside picture and text, reported as its own."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from html import unescape
from html.parser import HTMLParser
from typing import Any

from afterwit.model.page import Availability, ItemCard
from afterwit.perceive.amounts import amounts, number, plainly
from afterwit.perceive.card import safe
from afterwit.perceive.currencies import currency
from afterwit.perceive.html import DEEPEST, VOID

_GONE = re.compile(r"out_?of_?stock|sold_?out|discontinued", re.IGNORECASE)
_THERE = re.compile(
    r"in_?stock|limited_?availability|in_?store_?only|online_?only|pre_?(?:order|sale)|back_?order", re.IGNORECASE
)
_CONTENT = {"a": "href", "link": "href", "img": "src", "meta": "content", "data": "value", "time": "datetime"}
_TAG = re.compile(r"<[^<>]{0,200}>")
_DEEPEST = 40
_LONGEST = 1_200


def structured(html: str, *, source: str = "") -> ItemCard:
    """The first product in JSON-LD, what it lacks from microdata, then from Open Graph."""
    reader = _Metadata()
    reader.feed(html.replace("\0", ""))
    reader.close()
    products = [*_products(reader.scripts), *reader.items[:1], _open_graph(reader.meta)]
    held: list[str] = []
    offers = [_offer(product) for product in products]
    offered = next((offer for offer in offers if offer.price is not None), _Offer())
    brand = _first(_name(product.get("brand") or product.get("manufacturer")) for product in products)
    title = _first(_text(product.get("name")) for product in products)
    description = _first(_text(product.get("description")) for product in products)
    return ItemCard(
        title=safe(title or "", held),
        price=offered.price,
        currency=offered.currency or _first(offer.currency for offer in offers),
        availability=next((offer.availability for offer in offers if offer.availability), None),
        brand=safe(brand, held) or None if brand else None,
        rating=next((rating for product in products if (rating := _rating(product)) is not None), None),
        description=safe(_TAG.sub(" ", unescape(description or ""))[:_LONGEST], held),
        images=tuple(dict.fromkeys(image for product in products for image in _images(product.get("image"))))[:8],
        source=source,
        concerns=tuple(held),
    )


@dataclass(frozen=True, kw_only=True)
class _Offer:
    price: Decimal | None = None
    currency: str | None = None
    availability: Availability | None = None


def _offer(product: Mapping[str, Any]) -> _Offer:
    """The first offer that has a price, of a range its lower end; it is in stock where any of them is, as sizes are
    offers of their own."""
    offers = [offer for offer in _listed(product.get("offers")) if isinstance(offer, Mapping)]
    offers += [inner for offer in offers for inner in _listed(offer.get("offers")) if isinstance(inner, Mapping)]
    said = [_availability(_text(offer.get("availability"))) for offer in offers]
    there: Availability | None = "in stock" if "in stock" in said else next(filter(None, said), None)
    code: str | None = None
    for offer in offers:
        specified = next((one for one in _listed(offer.get("priceSpecification")) if isinstance(one, Mapping)), {})
        parts = (offer, specified)
        code = code or _first(currency(written) for part in parts if (written := _text(part.get("priceCurrency"))))
        for part in parts:
            for key in ("price", "lowPrice", "highPrice"):
                if (price := _money(part.get(key), code)) is not None:
                    return _Offer(price=price, currency=code, availability=there)
    return _Offer(currency=code, availability=there)


def _money(value: object, code: str | None) -> Decimal | None:
    """Numbers come with a point; where a page writes them as people do, they are read as people do."""
    text = _text(value)
    if text is None:
        return None
    plain = plainly(text).strip()
    if re.fullmatch(r"\d+(?:\.\d+)?", plain):
        found: Decimal | None = Decimal(plain)
    elif money := amounts(plain):
        found = money[0].value
    else:
        digits = re.search(r"\d[\d.,' ]*", plain)
        found = number(digits[0].strip(" .,'"), code) if digits else None
    return found if found else None


def _availability(text: str | None) -> Availability | None:
    if text is None:
        return None
    plain = text.replace(" ", "")
    return "out of stock" if _GONE.search(plain) else "in stock" if _THERE.search(plain) else None


def _products(scripts: list[str]) -> Iterator[Mapping[str, Any]]:
    for script in scripts:
        try:
            value = json.loads(script.strip().removeprefix("<!--").removesuffix("-->"), strict=False)
        except (ValueError, RecursionError):
            continue
        yield from _inside(value, 0)


def _inside(value: object, depth: int) -> Iterator[Mapping[str, Any]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for part in value:
            yield from _inside(part, depth + 1)
    elif isinstance(value, Mapping):
        kinds = {str(kind).rpartition("/")[2].casefold() for kind in _listed(value.get("@type"))}
        if kinds & {"product", "productgroup", "individualproduct", "productmodel"}:
            yield value
        for key in ("@graph", "mainEntity", "hasVariant", "itemOffered", "item"):
            yield from _inside(value.get(key), depth + 1)


def _open_graph(meta: Mapping[str, str]) -> dict[str, Any]:
    def of(*names: str) -> str | None:
        return _first(meta.get(f"{prefix}{name}") for name in names for prefix in ("product:", "og:"))

    offer = {
        "price": of("price:amount", "sale_price:amount", "price"),
        "priceCurrency": of("price:currency", "currency"),
        "availability": of("availability"),
    }
    known = {"name": of("title"), "description": of("description"), "brand": of("brand"), "image": of("image")}
    return {**known, "offers": offer}


def _rating(product: Mapping[str, Any]) -> float | None:
    given = next((one for one in _listed(product.get("aggregateRating")) if isinstance(one, Mapping)), None)
    if given is None:
        return None
    try:
        value = float(str(given.get("ratingValue")).replace(",", "."))
        best = float(str(given.get("bestRating") or 5).replace(",", "."))
    except ValueError:
        return None
    return round(5 * value / best, 2) if 0 <= value <= best and best > 0 else None


def _images(value: object) -> Iterator[str]:
    for image in _listed(value):
        address = image.get("url") or image.get("contentUrl") if isinstance(image, Mapping) else image
        if (text := _text(address)) and len(text) <= 2000:
            yield text


def _name(value: object) -> str | None:
    for part in _listed(value):
        if text := _text(part.get("name") if isinstance(part, Mapping) else part):
            return text
    return None


def _text(value: object) -> str | None:
    for part in _listed(value):
        if isinstance(part, str | int | float) and not isinstance(part, bool):
            return " ".join(str(part).split()) or None
    return None


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _first(values: Any) -> str | None:
    return next((value for value in values if value), None)


@dataclass(kw_only=True)
class _Scope:
    """An element that is open. item: of the microdata that it belongs to; prop: whose text it holds."""

    tag: str
    item: dict[str, Any] | None
    prop: str | None = None
    text: list[str] = field(default_factory=list)


class _Metadata(HTMLParser):
    """scripts: of JSON-LD; meta: property → content; items: products in microdata, nested as they stand."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts: list[str] = []
        self.meta: dict[str, str] = {}
        self.items: list[dict[str, Any]] = []
        self._open: list[_Scope] = []
        self._script: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "script" and (given.get("type") or "").partition(";")[0].strip().casefold() == "application/ld+json":
            self._script = []
        if tag == "meta" and (name := given.get("property") or given.get("name")) and given.get("content"):
            self.meta.setdefault(name.casefold(), str(given["content"]))
        outer = self._open[-1].item if self._open else None
        prop = given.get("itemprop")
        item = outer
        if "itemscope" in given:
            item = {}
            if outer is not None and prop:
                outer.setdefault(prop, []).append(item)
            elif "product" in (given.get("itemtype") or "").casefold():
                self.items.append(item)
            prop = None
        elif prop and outer is not None:
            value = given.get("content") or given.get(_CONTENT.get(tag, ""))
            if value is not None:
                outer.setdefault(prop, []).append(value)
                prop = None
        if tag not in VOID and len(self._open) < DEEPEST:
            self._open.append(_Scope(tag=tag, item=item, prop=prop if outer is not None else None))

    def handle_endtag(self, tag: str) -> None:
        if tag == "script" and self._script is not None:
            self.scripts.append("".join(self._script))
            self._script = None
        place = next((at for at in range(len(self._open) - 1, -1, -1) if self._open[at].tag == tag), None)
        if place is None:
            return
        for scope in self._open[place:]:
            if scope.prop and scope.item is not None and (text := " ".join("".join(scope.text).split())):
                scope.item.setdefault(scope.prop, []).append(text)
        del self._open[place:]

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self._script.append(data)
        for scope in self._open:
            if scope.prop:
                scope.text.append(data)
