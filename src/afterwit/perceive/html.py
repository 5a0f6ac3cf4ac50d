"""The ablation: the text of a page taken from its HTML instead of its picture."""

import re
from dataclasses import dataclass
from html import unescape
from html.parser import HTMLParser

from afterwit.model.page import Box, TextLine

_SILENT = frozenset(
    [
        "script",
        "style",
        "template",
        "noscript",
        "head",
        "title",
        "svg",
        "math",
        "iframe",
        "object",
        "audio",
        "video",
        "canvas",
        "datalist",
        "textarea",
        "option",
        "select",
        "nav",
        "footer",
    ]
)
"""What is not seen, and what leads elsewhere."""

VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
_BLOCK = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "button",
        "caption",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "html",
        "label",
        "legend",
        "li",
        "main",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
        "br",
    ]
)
_CLOSED_BY = {
    "p": _BLOCK - {"br", "button", "label"}, "li": frozenset({"li"}), "dt": frozenset({"dt", "dd"}),
    "dd": frozenset({"dt", "dd"}), "td": frozenset({"td", "th", "tr"}), "th": frozenset({"td", "th", "tr"}),
    "tr": frozenset({"tr"}), "option": frozenset({"option"}),
}  # fmt: skip
"""Elements that may be left open → what closes them."""

DEEPEST = 512
"""Elements inside one another; browsers stop there too."""

_SIZES = {1: 32.0, 2: 24.0, 3: 19.0}
_NAMES = ("itemprop", "class", "id", "data-testid", "data-test", "data-qa", "data-role")
_LABELS = 12
_AMOUNT = re.compile(r"\d")
_TITLE = re.compile(r"<title\b[^>]*>([^<]*)</title\s*>", re.IGNORECASE)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_STRUCK = re.compile(r"line-through", re.IGNORECASE)


def window_title(html: str) -> str:
    """What the window that shows a document is called, "" where it has no name."""
    match = _TITLE.search(html)
    return " ".join(unescape(match[1]).split())[:300] if match else ""


def visible(html: str) -> tuple[TextLine, ...]:
    """Text in the order of the document, one line a block; boxes are made up, one line below the other.

    Hidden are elements that say so themselves, scripts and the like; navigation and footers are left out. Style sheets
    are not read, so what they hide stays.
    """
    reader = _Visible()
    reader.feed(html.replace("\0", ""))
    reader.close()
    reader.end_line()
    lines: list[TextLine] = []
    top = 0.0
    for text, heading, struck, label in reader.lines:
        height = _SIZES.get(heading, 16.0)
        box = Box(left=0, top=top, width=height / 2 * len(text), height=height)
        lines.append(TextLine(text=text, box=box, struck=struck, heading=heading, label=label))
        top += 1.5 * height
    return tuple(lines)


@dataclass(frozen=True, kw_only=True)
class _Element:
    """One that is open. silent, struck: also where an outer one is."""

    tag: str
    silent: bool = False
    struck: bool = False
    label: str = ""


class _Visible(HTMLParser):
    """lines: text, level of its heading, whether it is struck, labels."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[tuple[str, int, bool, tuple[str, ...]]] = []
        self._open: list[_Element] = []
        self._text: list[str] = []
        self._label: tuple[str, ...] = ()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        while self._open and tag in _CLOSED_BY.get(self._open[-1].tag, ()):
            self.handle_endtag(self._open[-1].tag)
        if tag in _BLOCK:
            self.end_line()
        if tag in VOID:
            return
        given = dict(attrs)
        style = given.get("style") or ""
        silent = tag in _SILENT or "hidden" in given or bool(_HIDDEN.search(style))
        struck = tag in ("del", "s", "strike") or bool(_STRUCK.search(style))
        outer = self._open[-1] if self._open else _Element(tag="")
        if struck and not outer.struck:
            self.end_line()
        if len(self._open) < DEEPEST:
            label = " ".join(value for name in _NAMES if (value := given.get(name)))[:200]
            self._open.append(
                _Element(tag=tag, silent=silent or outer.silent, struck=struck or outer.struck, label=label)
            )

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag in _SILENT:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        places = [place for place, entry in enumerate(self._open) if entry.tag == tag]
        if not places:
            return
        closed = self._open[places[-1] :]
        if tag in _BLOCK or any(entry.tag in _BLOCK or entry.struck for entry in closed):
            self.end_line()
        del self._open[places[-1] :]

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1].silent:
            return
        if data[:1].isdigit() and self._text and self._text[-1][-1:].isdigit():
            self._text.append(" ")  # two elements, two numbers: small cents, or a price and a year
        self._text.append(data)
        if data.strip() and (
            not self._label or _AMOUNT.search(data)
        ):  # of several elements in a line, the one of its amount
            self._label = tuple(entry.label for entry in reversed(self._open) if entry.label)[:_LABELS]

    def end_line(self) -> None:
        text = " ".join("".join(self._text).split())
        label, self._label = self._label, ()
        self._text.clear()
        if not text:
            return
        tags = [entry.tag for entry in self._open]
        levels = [int(tag[1]) for tag in tags if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456"]
        heading = levels[-1] if levels and levels[-1] <= 3 else 0
        self.lines.append((text, heading, bool(self._open) and self._open[-1].struck, label))
