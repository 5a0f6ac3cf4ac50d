"""A document's words to machines, as they are written: scripts, meta elements, microdata and RDFa."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from afterwit.perceive.html import DEEPEST, VOID

_CONTENT = {"a": "href", "link": "href", "img": "src", "meta": "content", "data": "value", "time": "datetime"}
_LONGEST = 4_000_000
"""Characters of scripts that are kept."""

_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, kw_only=True)
class Item:
    """One thing that elements describe. syntax: ``microdata`` or ``rdfa``. kind: its type, as written. values: name →
    texts, addresses, and items inside as mappings."""

    syntax: str
    kind: str
    values: dict[str, list[Any]]


@dataclass(frozen=True, kw_only=True)
class Document:
    """linked: scripts of JSON-LD. scripts: other data and code. meta: name → content, the first of each. items: not
    those inside others. attributes: name and value of those that speak of a price. titles: of the document and its
    first heading."""

    linked: tuple[str, ...]
    scripts: tuple[str, ...]
    meta: dict[str, str]
    items: tuple[Item, ...]
    attributes: tuple[tuple[str, str], ...]
    titles: tuple[str, ...]


def document(html: str) -> Document:
    reader = _Reader()
    reader.feed(html.replace("\0", ""))
    reader.close()
    return Document(
        linked=tuple(reader.linked),
        scripts=tuple(reader.scripts),
        meta=reader.meta,
        items=tuple(reader.items),
        attributes=tuple(reader.attributes),
        titles=tuple(text for text in (reader.titles.get("title"), reader.titles.get("h1")) if text),
    )


@dataclass(kw_only=True)
class _Scope:
    """An element that is open. item: what it describes; props: whose text it holds."""

    tag: str
    item: dict[str, list[Any]] | None
    props: tuple[str, ...] = ()
    text: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.linked: list[str] = []
        self.scripts: list[str] = []
        self.meta: dict[str, str] = {}
        self.items: list[Item] = []
        self.attributes: list[tuple[str, str]] = []
        self.titles: dict[str, str] = {}
        self._open: list[_Scope] = []
        self._script: list[str] | None = None
        self._is_linked = False
        self._kept = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "script":
            self._script = []
            self._is_linked = (given.get("type") or "").partition(";")[0].strip().casefold() == "application/ld+json"
        if tag == "meta" and (name := given.get("property") or given.get("name")) and given.get("content"):
            self.meta.setdefault(name.casefold(), str(given["content"]))
        for key, value in attrs:
            if value and "price" in key and len(value) <= 40 and _DIGIT.search(value) and len(self.attributes) < 2_000:
                self.attributes.append((key, value))
        scope = self._described(tag, given)
        if tag in ("title", "h1") and tag not in self.titles:
            scope.props = (*scope.props, f"<{tag}>")
        if tag not in VOID and len(self._open) < DEEPEST:
            self._open.append(scope)

    def _described(self, tag: str, given: dict[str, str | None]) -> _Scope:
        outer = self._open[-1].item if self._open else None
        props = tuple(_names(given, outer is not None))
        if "itemscope" in given or given.get("typeof"):
            item: dict[str, list[Any]] = {}
            for prop in props if outer is not None else ():
                outer.setdefault(prop, []).append(item)  # type: ignore[union-attr]
            if outer is None or not props:
                syntax, kind = ("microdata", "itemtype") if "itemscope" in given else ("rdfa", "typeof")
                self.items.append(Item(syntax=syntax, kind=given.get(kind) or "", values=item))
            return _Scope(tag=tag, item=item)
        if not props or outer is None:
            return _Scope(tag=tag, item=outer)
        value = given.get("content") or given.get(_CONTENT.get(tag, ""))
        if value is None:
            return _Scope(tag=tag, item=outer, props=props)
        for prop in props:
            outer.setdefault(prop, []).append(value)
        return _Scope(tag=tag, item=outer)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script" and self._script is not None:
            text = "".join(self._script)
            self._script = None
            self._kept += len(text)
            if self._is_linked:
                self.linked.append(text)
            elif self._kept <= _LONGEST:
                self.scripts.append(text)
        place = next((at for at in range(len(self._open) - 1, -1, -1) if self._open[at].tag == tag), None)
        if place is None:
            return
        for scope in self._open[place:]:
            text = " ".join("".join(scope.text).split())
            for prop in scope.props if text else ():
                if prop.startswith("<"):
                    self.titles.setdefault(prop.strip("<>"), text[:300])
                elif scope.item is not None:
                    scope.item.setdefault(prop, []).append(text)
        del self._open[place:]

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self._script.append(data)
            return
        for scope in self._open:
            if scope.props:
                scope.text.append(data)


def _names(given: dict[str, str | None], inside: bool) -> Iterator[str]:
    """Of the properties that an element gives; those of RDFa only inside an item, as Open Graph has the same ones."""
    yield from (given.get("itemprop") or "").split()
    for name in (given.get("property") or "").split() if inside else ():
        prefix, _, plain = name.rpartition(":")
        if prefix in ("", "schema", "http", "https"):
            yield plain.rpartition("/")[2]
