"""An item card from a page's words to machines."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

from afterwit.model.page import ItemCard
from afterwit.perceive.card import safe
from afterwit.perceive.metadata import state
from afterwit.perceive.metadata.document import Document, Item, document
from afterwit.perceive.metadata.linked import listed, products
from afterwit.perceive.metadata.offers import Offer, first, offer, text
from afterwit.perceive.reading import Quote, Reading
from afterwit.perceive.words import folded

_TAG = re.compile(r"<[^<>]{0,200}>")
_WORD = re.compile(r"[^\W_]+")
_LONGEST = 1_200


@dataclass(frozen=True, kw_only=True)
class _Told:
    """A product in one of the syntaxes."""

    syntax: str
    product: Mapping[str, Any]
    offer: Offer


def structured(html: str, *, source: str = "") -> ItemCard:
    return read(html, source=source).card


def read(html: str, *, source: str = "") -> Reading:
    """The product in JSON-LD, what it lacks from microdata or RDFa, then from Open Graph. Of several products the one
    whose name is the page's, the first of equals."""
    page = document(html)
    told = list(_told(page))
    held: list[str] = []
    offered = next((one.offer for one in told if one.offer.prices), Offer())
    code = offered.currency or first(one.offer.currency for one in told)
    brand = first(_name(one.product.get(key)) for key in ("brand", "manufacturer", "author") for one in told)
    title = first(text(one.product.get("name")) for one in told)
    description = first(text(one.product.get("description")) for one in told)
    card = ItemCard(
        title=safe(title or "", held),
        price=offered.price,
        currency=code,
        was=offered.was,
        availability=next((one.offer.availability for one in told if one.offer.availability), None),
        brand=safe(brand, held) or None if brand else None,
        rating=next((rating for one in told if (rating := _rating(one.product)) is not None), None),
        description=safe(_TAG.sub(" ", unescape(description or ""))[:_LONGEST], held),
        images=tuple(dict.fromkeys(image for one in told for image in _images(one.product.get("image"))))[:8],
        source=source,
        concerns=tuple(held),
    )
    quotes = (*_quoted(told), *state.quotes(page.scripts, page.attributes, code))
    return Reading(sense="metadata", card=card, quotes=quotes, names=state.makers(page.scripts))


def _quoted(told: Sequence[_Told]) -> Iterator[Quote]:
    for one in told:
        for place, price in enumerate(one.offer.prices):
            yield Quote(value=price, currency=one.offer.currency, place=one.syntax, main=place == 0)
        if one.offer.was is not None:
            yield Quote(value=one.offer.was, currency=one.offer.currency, place=one.syntax, old=True, main=False)


def _told(page: Document) -> Iterator[_Told]:
    named = " ".join((*page.titles, page.meta.get("og:title", "")))
    if (found := _best(list(products(page.linked)), named)) is not None:
        yield _Told(syntax="json-ld", product=found, offer=offer(found))
    for syntax in ("microdata", "rdfa"):
        items = [item.values for item in page.items if item.syntax == syntax and _sold(item)]
        if (found := _best(items, named)) is not None:
            yield _Told(syntax=syntax, product=found, offer=offer(found))
    graph = _open_graph(page.meta)
    yield _Told(syntax="open graph", product=graph, offer=offer(graph))


def _sold(item: Item) -> bool:
    return "product" in item.kind.casefold() or "offers" in item.values


def _best(items: Sequence[Mapping[str, Any]], named: str) -> Mapping[str, Any] | None:
    """The one with the largest share of its name in the page's titles; those that have no price come after."""
    words = set(_WORD.findall(folded(named)))

    def likeness(item: Mapping[str, Any]) -> float:
        own = set(_WORD.findall(folded(text(item.get("name")) or "")))
        return len(own & words) / max(len(own), 1) + (0.5 if offer(item).prices else 0.0)

    return max(items, key=likeness, default=None)


def _open_graph(meta: Mapping[str, str]) -> dict[str, Any]:
    def of(*names: str) -> str | None:
        return first(meta.get(f"{prefix}{name}") for name in names for prefix in ("product:", "og:"))

    label = next((at for at in "1234" if "price" in folded(meta.get(f"twitter:label{at}", ""))), "")
    offered = {
        "price": of("sale_price:amount", "price:amount", "price")
        or meta.get(f"twitter:data{label}" if label else "")
        or meta.get("price")
        or meta.get("product_price"),
        "priceCurrency": of("sale_price:currency", "price:currency", "currency") or meta.get("currency"),
        "availability": of("availability") or meta.get("availability"),
    }
    known = {"name": of("title"), "description": of("description"), "brand": of("brand"), "image": of("image")}
    return {**known, "offers": offered}


def _rating(product: Mapping[str, Any]) -> float | None:
    given = next((one for one in listed(product.get("aggregateRating")) if isinstance(one, Mapping)), None)
    if given is None:
        return None
    try:
        value = float((text(given.get("ratingValue")) or "").replace(",", "."))
        best = float((text(given.get("bestRating")) or "5").replace(",", "."))
    except ValueError:
        return None
    return round(5 * value / best, 2) if 0 <= value <= best and best > 0 else None


def _images(value: object) -> Iterator[str]:
    for image in listed(value):
        address = image.get("url") or image.get("contentUrl") if isinstance(image, Mapping) else image
        if (found := text(address)) and len(found) <= 2000:
            yield found


def _name(value: object) -> str | None:
    for part in listed(value):
        if found := text(part.get("name") if isinstance(part, Mapping) else part):
            return found
    return None
