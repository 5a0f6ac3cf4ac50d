"""The page of a record that has no rounds: plots, differences, every figure, and nothing that runs."""

from xml.etree import ElementTree

from afterwit.evaluate.record import EvaluationRecord
from afterwit.evaluate.report.page import page
from afterwit.model import Interval

SHARE = Interval(value=0.6, low=0.5, high=0.7, n=40)
RECORD = EvaluationRecord(
    benchmark="recsys:<games>",
    version="0",
    seed=1,
    seconds=1,
    data={},
    policies={
        "profile": {"ndcg@5": SHARE, "ndcg@5:long": SHARE, "gain@popularity": SHARE, "tokens": Interval(value=512)},
        "<script>alert(1)</script>": {"ndcg@5": Interval(value=0.1, low=0.05, high=0.2, n=40)},
    },
)


def test_it_shows_who_comes_out_where_and_escapes_what_it_shows() -> None:
    text = page(RECORD)
    assert text.count("<figure>") == 2
    assert "<figcaption>ndcg@5:long</figcaption>" in text
    assert "60.0 %" in text
    assert "512" in text
    assert "better" in text
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_its_plots_are_well_formed_and_say_their_figures_in_words() -> None:
    text = page(RECORD)
    plots = [part.split("</svg>")[0] + "</svg>" for part in text.split("<svg")[1:]]
    for plot in plots:
        root = ElementTree.fromstring("<svg" + plot)
        assert "profile 60.0 %" in root.attrib["aria-label"]


def test_a_record_without_shares_says_so() -> None:
    bare = EvaluationRecord(benchmark="b", version="0", seed=1, seconds=1, data={}, policies={"a": {}})
    assert "No share to compare" in page(bare)


def test_curves_and_plain_figures_are_shown_as_numbers() -> None:
    points = (Interval(value=0.5, low=0.4, high=0.6, n=9), Interval(value=0.75, n=9))
    record = EvaluationRecord(
        benchmark="b",
        version="0",
        seed=1,
        seconds=1,
        data={},
        policies={"tide": {"mae": Interval(value=0.731), "mae@<none>": SHARE}, "<none>": {"mae": SHARE}},
        curves={"utility": {"tide": points, "<none>": points}},
        leads=("mae",),
        plain=("mae",),
    )
    text = page(record)
    assert "<h3>utility</h3>" in text
    assert "utility of tide: 0.5, 0.75" in text
    assert "0.731" in text
    assert "73.1 %" not in text
    assert "higher" in text, "a lower error is better, so the page does not call a higher one so"
    assert "<none>" not in text
    assert record.to_json()["curves"]["utility"]["tide"][1] == {"value": 0.75, "n": 9}
