"""Products in JSON-LD, however badly it was written."""

import json
import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any

_DEEPEST = 40
_KINDS = frozenset({
    "product", "productgroup", "individualproduct", "productmodel", "someproducts", "book", "vehicle", "car",
    "softwareapplication", "mobileapplication", "videogame", "event", "course",
})  # fmt: skip
"""Things that shops sell; of other kinds, those that have offers."""

_WRAPPED = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[|/\*.*?\*/)|(?://\s*)?(?:-->|\]\]>)\s*;?\s*$", re.DOTALL
)
_STRING_OR_FAULT = re.compile(
    r'("(?:[^"\\]|\\.)*")'  # is kept
    r"|/\*.*?\*/|(?<![:\w])//[^\n]*"  # a comment
    r"|,(?=\s*[}\]])",  # a comma before nothing
    re.DOTALL,
)
_PAIR = re.compile(
    r'"(name|price|lowPrice|priceCurrency|availability|sku|brand|description)"\s*:\s*'
    r'(?:\{[^{}]*?"name"\s*:\s*)?("(?:[^"\\\n]|\\.)*"|-?\d+(?:\.\d+)?)'
)
_OFFER = frozenset({"price", "lowPrice", "priceCurrency", "availability"})


def products(scripts: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
    """In order, those inside others after them."""
    for script in scripts:
        value = _read(script)
        yield from _inside(value, 0) if value is not None else _pieced(script)


def listed(value: object) -> list[Any]:
    """A value that may be one or several; objects that are numbered as lists are, too."""
    if isinstance(value, Mapping) and value and all(str(key).isdigit() for key in value):
        return list(value.values())
    if isinstance(value, Mapping) and "@list" in value:
        return listed(value["@list"])
    return value if isinstance(value, list) else [] if value is None else [value]


def _read(script: str) -> object:
    """None for what is no JSON after the usual faults are mended."""
    plain = _WRAPPED.sub("", _WRAPPED.sub("", script)).strip().rstrip(";")
    for text in (plain, _mended(plain), _mended(unescape(plain))):
        try:
            return json.loads(text, strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _mended(text: str) -> str:
    return _STRING_OR_FAULT.sub(lambda match: match[1] or "", text)


def _pieced(script: str) -> Iterator[Mapping[str, Any]]:
    """What can be told of a product whose JSON is broken for good: the first value of each name."""
    if not re.search(r'"@type"\s*:\s*\[?\s*"(?:\w+:|https?://schema\.org/)?Product\b', script):
        return
    found: dict[str, Any] = {}
    for name, written in _PAIR.findall(script[script.find("Product") :]):
        try:
            found.setdefault(name, json.loads(written, strict=False))
        except ValueError:
            continue
    offer = {name: value for name, value in found.items() if name in _OFFER}
    yield {**{name: value for name, value in found.items() if name not in _OFFER}, "offers": offer}


def _inside(value: object, depth: int) -> Iterator[Mapping[str, Any]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for part in value:
            yield from _inside(part, depth + 1)
    elif isinstance(value, Mapping):
        kinds = {re.split(r"[/:#]", str(kind))[-1].casefold() for kind in listed(value.get("@type"))}
        if kinds & _KINDS or ("offers" in value and value.get("name")):
            yield value
        for key in (
            "@graph",
            "mainEntity",
            "mainEntityOfPage",
            "about",
            "hasVariant",
            "itemOffered",
            "item",
            "isVariantOf",
        ):
            yield from _inside(value.get(key), depth + 1)
