"""The record's JSON shape, and a page that stands alone and cannot be talked into anything."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from afterwit.errors import InputError
from afterwit.evaluate.record import EvaluationRecord, RoundPoint, sha256_of
from afterwit.evaluate.report import page, write
from afterwit.model import Card, Edit, Interval, Posterior, Provenance, Refusal, Round, Stance, Trial

AT = datetime(2024, 3, 1, tzinfo=UTC)
HOSTILE = "</td></svg><script src=\"http://evil.example/x.js\">alert('1')</script><img src=x onerror=alert(2)>\x00\x1b&"


def make_record(text: str = "Prefer “magic”.") -> EvaluationRecord:
    card = Card(
        id="card-1",
        scope="s",
        key=text,
        guidance=text,
        stance=Stance(decision="word=magic", prefer=True),
        effect=0.2,
        status="active",
        fitness={"click": Posterior(mean=0.25, sd=0.05, strata=40)},
        trial=Trial(
            admitted_at=AT,
            needed=20,
            effect=0.3,
            tested_at=AT,
            p_value=0.01,
            confirmed=True,
            post_effect=0.22,
            post_sd=0.1,
        ),
        provenance=Provenance(operator="confirm"),
        created_at=AT,
        valid_from=AT,
    )
    edits = tuple(
        Edit(id=str(k), operator=operator, writes=(card,), reason=text)
        for k, operator in enumerate(("admit", "reinforce", "confirm"))
    )
    refusal = Refusal(subject=text, verdict="insufficient", reason=text)
    rounds = tuple(
        Round(
            id=f"r{k}", scope="s", bank="content", as_of=AT.replace(month=3 + k), base_version=k, edits=(edit,),
            refused=(refusal,),
        )
        for k, edit in enumerate(edits)
    )  # fmt: skip
    figure = Interval(value=0.081, low=0.055, high=0.108, n=862)
    points = tuple(
        RoundPoint(at=round_.as_of, meg=figure, so_far=figure, cards=1, tokens=9, edits=1) for round_ in rounds
    )
    return EvaluationRecord(
        benchmark="upworthy",
        version="0.1.0",
        seed=13,
        seconds=41.23,
        data={"history": "sha256:00", "future": "sha256:11"},
        policies={
            "tide": {"uplift": figure, "cards": Interval(value=1), "uplift@none": figure},
            text: {"uplift": figure},
        },
        series={"tide": points, text: points},
        cards=(card,),
        rounds=rounds,
        counts={text: 1},
        notes=(text,),
    )


def test_the_record_has_the_shape_of_the_design() -> None:
    found = json.loads(json.dumps(make_record().to_json()))
    assert list(found)[:6] == ["benchmark", "version", "seed", "seconds", "data", "policies"]
    assert found["seconds"] == 41.2
    assert found["data"] == {"history": "sha256:00", "future": "sha256:11"}
    assert found["policies"]["tide"]["uplift"] == {"value": 0.081, "low": 0.055, "high": 0.108, "n": 862}
    assert found["policies"]["tide"]["cards"] == {"value": 1}
    assert found["series"]["tide"][0]["so_far"]["n"] == 862
    assert found["bank"][0]["stance"] == "prefer word=magic"


def test_a_file_is_known_by_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    assert sha256_of(path) == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    with pytest.raises(InputError, match="cannot be read"):
        sha256_of(tmp_path / "missing")


def parse(text: str) -> ET.Element:
    doctype, _, rest = text.partition("\n")
    assert doctype == "<!DOCTYPE html>"
    return ET.fromstring(rest)


@pytest.mark.parametrize("text", ["Prefer “magic”.", HOSTILE, "日本語 עברית 🙂"])
def test_the_page_is_well_formed_and_loads_nothing(text: str) -> None:
    found = page(make_record(text))
    root = parse(found)
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert names.isdisjoint({"script", "link", "img", "iframe", "object", "embed", "image", "use"})
    for element in root.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            if name in ("src", "href"):
                assert value.startswith("#")
    style = "".join(element.text or "" for element in root.iter("style"))
    assert not re.search(r"url\(|@import", style)


def test_the_page_shows_what_a_reader_asks_for() -> None:
    root = parse(page(make_record()))
    text = " ".join(root.itertext())
    for wanted in ("+8.1 %", "Prefer “magic”.", "confirmed", "insufficient", "sha256:00", "p = 0.01", "2024-03-01"):
        assert wanted in text
    headings = {element.attrib["id"] for element in root.iter("h2")}
    links = {element.attrib["href"] for element in root.iter("a")}
    assert {f"#{name.removesuffix('-title')}" for name in headings} <= links
    assert all(e.attrib.get("aria-label") for e in root.iter("{http://www.w3.org/2000/svg}svg"))


def test_hostile_text_stays_text() -> None:
    found = page(make_record(HOSTILE))
    assert "<script" not in found
    assert "<img" not in found
    assert "&lt;script src=&quot;http://evil.example" in found
    assert "\x00" not in found


def test_an_empty_record_still_makes_a_page() -> None:
    empty = replace(make_record(), policies={}, series={}, cards=(), rounds=(), counts={}, notes=())
    assert "The bank is empty" in page(empty)
    parse(page(empty))


def test_the_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = write(make_record(), tmp_path / "out" / "report.html")
    assert path.read_text(encoding="utf-8") == page(make_record())
    assert [p.name for p in path.parent.iterdir()] == ["report.html"]
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be written"):
        write(make_record(), tmp_path / "file" / "report.html")
