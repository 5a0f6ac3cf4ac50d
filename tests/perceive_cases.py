"""Pages of shops, small."""

from collections.abc import Sequence

from afterwit.model.page import Box, ItemCard, TextLine
from afterwit.perceive.card import card
from afterwit.perceive.html import visible

PAGE = """<!doctype html><html><head><meta charset="utf-8"><title>Shop</title></head><body>
<nav><a href="/a">Home</a> <a href="/b">Kettles from £5.00</a></nav>
<h1>Aster cordless kettle, 1.7 litres</h1>
<p>Brand: Aster</p>
<p>4.6 out of 5 (212 reviews)</p>
<p><del>£49.99</del></p>
<p style="font-size:28px">£39.50</p>
<p>Free delivery over £50</p>
<p>or 3 payments of £13.17 per month with Klarna</p>
<p>In stock</p>
<button>Add to basket</button>
<h2>Product description</h2>
<p>A kettle of brushed steel that boils a litre in two minutes and keeps quiet while it does so.</p>
<h2>You may also like</h2>
<h3>Bellis toaster</h3><p>£24.00</p><p>Sold out</p>
<footer>© Shop</footer>
</body></html>"""


def read(*body: str) -> ItemCard:
    """The card of a page with these elements."""
    return card(visible(f"<html><body>{''.join(body)}</body></html>"))


def line(
    text: str, *, left: float = 0, top: float = 0, height: float = 16, width: float = 0, **more: object
) -> TextLine:
    box = Box(left=left, top=top, width=width or 8 * len(text), height=height)
    return TextLine(text=text, box=box, **more)  # type: ignore[arg-type]


def texts(lines: Sequence[TextLine]) -> list[str]:
    return [one.text for one in lines]
