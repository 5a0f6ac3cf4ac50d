"""The report in a real browser: nothing is fetched, nothing fails; narrow, dark and keyboard work."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from afterwit.evaluate.report import write
from test_evaluate_record_report import make_record

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: apt-get install chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield opened
        opened.close()


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return write(make_record(), tmp_path / "report.html")


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (1200, "dark"), (360, "light")])
def test_the_page_stands_alone(browser: Any, report: Path, width: int, scheme: str) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    fetched: list[str] = []
    problems: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(report.as_uri())
    assert fetched == [report.as_uri()]
    assert problems == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0] < 128")
    assert dark == (scheme == "dark")
    page.close()


def test_the_keyboard_reaches_every_link(browser: Any, report: Path) -> None:
    page = browser.new_page()
    page.goto(report.as_uri())
    links = page.locator("a").count()
    reached = set()
    for _ in range(links + page.locator("summary").count() + 5):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.getAttribute('href')"))
    assert len(reached - {None}) == len(
        set(page.eval_on_selector_all("a", "all => all.map(a => a.getAttribute('href'))"))
    )
    page.close()


_BROKEN = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), broken = [];
  for (let node; node = walker.nextNode();) {
    for (const word of node.data.matchAll(/[^\\s\\-\\/–—]+/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
      if (lines.size > 1) broken.push(word[0]);
    }
  }
  return broken;
}"""


@pytest.mark.parametrize("width", [360, 768, 1280, 1920])
@pytest.mark.parametrize("benchmark", ["upworthy", "function_calling"])
def test_no_line_ends_inside_a_word(browser: Any, tmp_path: Path, width: int, benchmark: str) -> None:
    record = replace(make_record(), benchmark=benchmark, rounds=make_record().rounds if benchmark == "upworthy" else ())
    tide = record.policies["tide"]
    names = ("random_replacement", "append_only", "outcome_only", "reference:tfidf_ridge", "full_history", "frozen")
    record = replace(
        record,
        policies={**record.policies, **dict.fromkeys(names, tide)},
        cards=tuple(replace(card, status="provisional", guidance="Prefer “unbelievable”.") for card in record.cards),
    )
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(write(record, tmp_path / "report.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate(_BROKEN) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    shown = page.evaluate("[...document.querySelectorAll('th, td, caption, figcaption, dt')].map(e => e.innerText)")
    assert shown
    assert [text for text in shown if "_" in text] == []
    page.close()
