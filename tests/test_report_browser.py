"""The report in a real browser: nothing is fetched, nothing fails; narrow, dark and keyboard work."""

import shutil
from collections.abc import Iterator
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
