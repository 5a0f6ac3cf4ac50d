"""Pages of shops, scored: the counting by hand, and the run on pages of its own with doubles of browser and reader."""

import gzip
import json
from decimal import Decimal
from pathlib import Path

import pytest

from afterwit.benchmarks.perceive.fit import fit
from afterwit.benchmarks.perceive.metrics import Counts, count, same_currency, same_name, same_price, scores
from afterwit.benchmarks.perceive.pages import Page, pages
from afterwit.benchmarks.perceive.run import score
from afterwit.errors import InputError
from afterwit.model.page import Box, ItemCard, Screenshot, Sense, Tile
from afterwit.perceive.fusion import fused
from afterwit.perceive.ports import ScriptedOcr
from afterwit.perceive.reading import Quote, Reading
from perceive_cases import PAGE, line


def test_a_wrong_value_is_wrong_and_missed() -> None:
    assert count(["10"], "10.00", same_price) == Counts(right=1)
    assert count(["10", "12"], "12", same_price) == Counts(right=1)
    assert count(["10"], "11", same_price) == Counts(wrong=1, missed=1)
    assert count(["10"], None, same_price) == Counts(missed=1)
    assert count([], "11", same_price) == Counts(wrong=1)
    assert count([], None, same_price) == Counts()


def test_precision_recall_and_f1_by_hand() -> None:
    table = (
        [Counts(right=1)] * 6
        + [Counts(wrong=1, missed=1)] * 2
        + [Counts(missed=1)] * 2
        + [Counts(wrong=1)]
        + [Counts()]
    )
    found = scores(table, seed=1)
    assert found["precision"].value == pytest.approx(6 / 9)
    assert found["recall"].value == pytest.approx(6 / 10)
    assert found["f1"].value == pytest.approx(12 / 19)
    assert (found["precision"].n, found["recall"].n) == (9, 10)
    assert all((one.low or 0) < one.value < (one.high or 1) for one in found.values())


def test_nothing_to_tell_and_nothing_told_is_perfect_and_no_pages_know_nothing() -> None:
    assert scores([Counts()], seed=1)["f1"].value == 1
    assert scores([Counts(wrong=1)], seed=1)["precision"].value == 0
    assert (scores([], seed=1)["f1"].low, scores([], seed=1)["f1"].high) == (0, 1)


def test_values_are_the_same_as_people_say_they_are() -> None:
    assert same_price("36.50", "36.5")
    assert not same_price("36.50", "n/a")
    assert same_currency("$", "TWD")
    assert same_currency("원~", "KRW")
    assert not same_currency("€", "GBP")
    assert same_name("DeLonghi", "De’Longhi ")
    assert not same_name("IKEA", "PELARBOJ")


TRUTH = {
    "a": {"price": ["39.50"], "currency": ["£"], "brand": ["ASTER"], "availability": ["InStock"], "url": "https://x"},
    "b": {"availability": ["OutOfStock"], "OutOfStock": ["OutOfStock"]},
    "absent": {"price": ["1"]},
}
GONE = "<h1>Bellis toaster of steel</h1><p>Currently unavailable.</p>"


def folder_of_pages(folder: Path) -> Path:
    (folder / "html").mkdir(parents=True)
    (folder / "ground_truth.json").write_text(json.dumps(TRUTH))
    for name, html in (("a", PAGE), ("b", GONE)):
        (folder / "html" / f"{name}.html.gz").write_bytes(gzip.compress(html.encode()))
    return folder


class Shows:
    """A browser whose picture is the HTML itself."""

    name = "shows"

    def __call__(self, source: str) -> Screenshot:
        html = Path(source).read_text()
        tile = Tile(png=html.encode(), box=Box(left=0, top=0, width=800, height=600))
        return Screenshot(tiles=(tile,), width=800, height=600, html=html)


OCR = ScriptedOcr({PAGE.encode(): (line("Aster kettle of steel"), line("£99.00", top=30))})


def test_each_way_is_scored_on_all_pages_and_on_each_half(tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    record = score(
        folder_of_pages(tmp_path),
        browser=Shows(),
        readers=(OCR,),
        progress=lambda done, total: seen.append((done, total)),
    )
    html, ocr, metadata = (record.policies[name] for name in ("html", "ocr", "structured"))
    assert list(record.policies) == ["fused", "fused:metadata+text", "ocr", "html", "structured"]
    fused = record.policies["fused"]
    assert fused["price_f1@script:Latin"] == fused["price_f1"]
    assert (html["price_f1"].value, html["currency_f1"].value, html["brand_f1"].value) == (1, 1, 1)
    assert (html["availability_f1"].value, html["OutOfStock_f1"].value, html["price_f1"].n) == (1, 1, 1)
    assert (ocr["price_precision"].value, ocr["price_recall"].value) == (0, 0)
    assert (metadata["price_recall"].value, metadata["availability_f1"].value) == (0, 0.5)
    assert (html["price_f1@develop"].n or 0) + (html["price_f1@held_out"].n or 0) == 1
    assert {"seconds"} <= html.keys()
    assert (record.counts, seen) == ({"pages": 2, "script:Latin": 2}, [(1, 2), (2, 2)])
    assert record.benchmark == "remem:perceive"
    json.dumps(record.to_json())


def test_without_eyes_the_other_ways_are_scored_and_other_systems_beside_them(tmp_path: Path) -> None:
    folder = folder_of_pages(tmp_path)
    (folder / "output").mkdir()
    (folder / "output" / "Other.json").write_text(json.dumps({"a": {"price": "39.5"}, "b": {"price": "1"}}))
    record = score(folder, browser=None, readers=())
    assert list(record.policies) == ["fused:metadata+text", "html", "structured", "reference:Other"]
    assert record.policies["reference:Other"]["price_precision"].value == 0.5


def test_a_page_that_cannot_be_shown_is_counted_and_tells_nothing(tmp_path: Path) -> None:
    def fails(source: str) -> Screenshot:
        raise InputError("no")

    fails.name = "fails"  # type: ignore[attr-defined]
    record = score(folder_of_pages(tmp_path), browser=fails, readers=(OCR,))  # type: ignore[arg-type]
    assert record.counts == {"pages": 2, "failed:ocr": 2, "script:Latin": 2}
    assert "ocr" not in record.policies


def test_pages_that_are_none_are_said_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not the ground truth"):
        pages(tmp_path)
    (tmp_path / "ground_truth.json").write_text("{}")
    with pytest.raises(InputError, match="holds none"):
        pages(tmp_path)
    folder = folder_of_pages(tmp_path / "pages")
    (folder / "html" / "a.html.gz").write_bytes(b"not gzip")
    with pytest.raises(InputError, match="cannot be read"):
        pages(folder)[0].html()


def test_weights_are_fitted_to_what_is_right() -> None:
    """Metadata that is right where the text is wrong comes to weigh more, and a page counts once."""

    def said(sense: Sense, price: str) -> Reading:
        value = Decimal(price)
        quotes = (Quote(value=value, place="json-ld"),) if sense == "metadata" else (Quote(value=value),)
        return Reading(sense=sense, card=ItemCard(title="x", price=value), quotes=quotes)

    found = [Page(name=str(n), path=Path(), truth={"price": ["5"]}) for n in range(20)]
    readings = {page.name: (said("metadata", "5"), said("text", "7")) for page in found}
    weights = fit(found, readings)
    assert weights["price"]["metadata: markup"] > 1
    assert fused(readings["0"], by=weights).price == 5
    claim = fused(readings["0"], by=weights).claim("price")
    assert claim is not None
    assert 0.8 < (claim.confidence or 0) < 1
