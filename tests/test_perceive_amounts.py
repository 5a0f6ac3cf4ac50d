"""Amounts as people write them."""

from decimal import Decimal

import pytest

from afterwit.perceive.amounts import amounts, bare, number
from afterwit.perceive.currencies import currency, same


@pytest.mark.parametrize(
    ("text", "value", "code"),
    [
        ("£1,299.99", "1299.99", "GBP"),  # English
        ("US$ 12.50", "12.50", "USD"),
        ("$ 12.50 CAD", "12.50", "CAD"),
        ("€ 119,01 inkl. MwSt.", "119.01", "EUR"),  # German
        ("1.299 €", "1299", "EUR"),
        ("CHF 1'234.50", "1234.50", "CHF"),  # Swiss
        ("1 299,00 €", "1299.00", "EUR"),  # French, thin space
        ("12€50", "12.50", "EUR"),
        ("119 90 €", "119.90", "EUR"),  # small cents
        ("1.234,56 euros", "1234.56", "EUR"),  # Spanish
        ("R$ 1.234,56", "1234.56", "BRL"),  # Portuguese
        ("EUR 12,99", "12.99", "EUR"),  # Italian
        ("€ 99,-", "99", "EUR"),  # Dutch
        ("1 299,50 zł", "1299.50", "PLN"),  # Polish
        ("23 990 Kč", "23990", "CZK"),  # Czech
        ("12 990 Ft", "12990", "HUF"),  # Hungarian
        ("149,99 lei", "149.99", "RON"),  # Romanian
        ("1 995 kr", "1995", "kr"),  # Swedish, Norwegian, Danish
        ("kr. 1.995,00", "1995.00", "kr"),
        ("1.299,90 TL", "1299.90", "TRY"),  # Turkish
        ("44 890 тг.", "44890", "KZT"),  # Kazakh
        ("1 990 руб.", "1990", "RUB"),  # Russian
        ("499 грн", "499", "UAH"),  # Ukrainian
        ("₹12,34,567", "1234567", "INR"),  # Hindi
        ("Rs. 1,23,456.00", "123456.00", "Rs"),
        ("٩٩ ر.س", "99", "SAR"),  # Arabic
        ("١٬٢٣٤٫٥٠ د.إ", "1234.50", "AED"),
        ("￥5,980円", "5980", "JPY"),  # Japanese
        ("NT$ 294", "294", "TWD"),  # Chinese
        ("30,000원~", "30000", "KRW"),  # Korean
        ("฿1,290", "1290", "THB"),  # Thai
        ("1.290.000₫", "1290000", "VND"),  # Vietnamese
        ("KWD 12.500", "12.500", "KWD"),
        ("0.499 €", "0.499", "EUR"),
        ("S/ 45.90", "45.90", "PEN"),
    ],
)
def test_an_amount_is_read_as_its_country_writes_it(text: str, value: str, code: str) -> None:
    (found,) = amounts(text)
    assert (found.value, found.currency) == (Decimal(value), code)
    assert text[found.start : found.end].strip() == text[found.start : found.end]


def test_several_amounts_are_read_from_left_to_right() -> None:
    assert [str(one.value) for one in amounts("Was £20.00, now £15.50 (save £4.50)")] == ["20.00", "15.50", "4.50"]


@pytest.mark.parametrize(
    "text", ["", "12 left", "6 ft long", "Model 2024", "4.5 out of 5", "0.66 Pounds", "😀 1", "Room R 12b", "v1.2.3"]
)
def test_numbers_of_other_things_are_no_amounts(text: str) -> None:
    assert amounts(text) == ()


def test_a_number_alone_can_be_taken_for_a_price_by_who_knows_that_it_is() -> None:
    found = bare("12,50")
    assert found is not None
    assert (found.value, found.currency) == (Decimal("12.50"), None)
    assert bare("3 for 2") is None
    assert bare("none") is None


@pytest.mark.parametrize(
    ("digits", "value"),
    [("1.234.567", "1234567"), ("1,234", "1234"), ("12,34", "12.34"), ("7", "7"), ("1.2345", "1.2345")],
)
def test_one_mark_before_three_digits_groups_thousands(digits: str, value: str) -> None:
    assert number(digits) == Decimal(value)


def test_digits_without_end_are_no_price() -> None:
    assert number("9" * 40) is None


def test_a_sign_of_several_countries_is_any_of_theirs() -> None:
    assert same("$", "ARS")
    assert same("kr", "SEK")
    assert not same("$", "EUR")
    assert not same(None, "EUR")
    assert [currency(text) for text in ("원~", "тг.", "ر.س", "Lei", "chf", "bananas")] == [
        "KRW",
        "KZT",
        "SAR",
        "RON",
        "CHF",
        None,
    ]
