"""Amounts by what their document calls them."""

from decimal import Decimal

import pytest

from afterwit.perceive.html import visible
from perceive_cases import read

TITLE = "<h1>Aster kettle of brushed steel</h1>"


@pytest.mark.parametrize(
    "html",
    [
        '<p class="product-price-old">£49.00</p><p class="product-price">£39.50</p>',
        '<div class="price"><span class="listPrice">£49.00</span><span class="salePrice">£39.50</span></div>',
        '<p class="shipping-cost">£4.95</p><p class="amount">£39.50</p>',
        '<div id="recommendations"><b class="price">£12.00</b></div><b class="price">£39.50</b>',
        '<b class="price-old-live">£39.50</b><p>Ex VAT: £32.92</p>',
        '<p class="price">ex VAT £39.50</p><p class="price">inc VAT £47.40</p>',
    ],
)
def test_the_price_is_the_one_that_is_called_so(html: str) -> None:
    assert read(TITLE, html, "<button>Add to basket</button>").price == Decimal("39.50")


def test_an_earlier_price_is_known_by_its_label() -> None:
    found = read(TITLE, '<p class="old-price">£49.00</p><p class="price">£39.50</p>')
    assert (found.price, found.was) == (Decimal("39.50"), Decimal("49.00"))


def test_labels_are_those_of_the_amount_innermost_first() -> None:
    (line,) = visible('<div id="buybox"><p>Now <b class="price">£39.50</b> <i class="note">incl. VAT</i></p></div>')
    assert line.label == ("price", "buybox")
