"""The page in a real browser: every view, keyboard, narrow, dark, other scripts; nothing fails or is fetched."""

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from afterwit.model import Posterior
from afterwit.ports import HashEmbedder
from afterwit.server.app import build
from afterwit.server.page.pictures import word_diff
from afterwit.service.office import Office
from server_cases import ROOMY
from store_cases import card, commit, edit, round_

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: apt-get install chromium")
SCOPE = "acme/push"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address, and a key."""
    office = Office.open(tmp_path_factory.mktemp("page") / "memory.db", limits=ROOMY, embedder=HashEmbedder())
    memory = office.tenants.make(SCOPE)
    first = memory.add("Ask a question first.", key="write a push")
    memory.update(first.id, "Ask one question first.")
    memory.add("<script>alert(1)</script> 先问一个问题", key="推送")
    memory.add("اسأل سؤالاً أولاً", key="إشعار")
    with memory.episode("write a push") as episode:
        episode.decide("hook", "question", because=episode.recall(k=1))
        episode.output("Half price?")
    memory.profile("user-17").constrain("never mention health")
    effect = {"click": Posterior(mean=0.05, sd=0.02, strata=40)}
    new = card("c9", "Lead with the price.", fitness=effect, effect=0.05)
    store = office.parts.place.store
    commit(store, round_("r9", store.bank_version(SCOPE, "content"), edit("e9", "admit", new), status="proposed"))
    _, token = office.keyring.add("marketer", scopes=[SCOPE], roles=["recall", "approve"])
    server = uvicorn.Server(uvicorn.Config(build(office), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", token
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def browser(served: tuple[str, str]) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield opened
        opened.close()


@needs_browser
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (360, "dark")])
def test_every_view_shows_and_a_round_is_approved(
    browser: Any, served: tuple[str, str], width: int, scheme: str, tmp_path: Path
) -> None:
    address, token = served
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    problems: list[str] = []
    page.on(
        "console", lambda said: problems.append(said.text) if said.type == "error" and "401" not in said.text else None
    )
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.append(request.url) if address not in request.url else None)
    page.goto(address)
    page.get_by_label("Key").fill(token)
    page.keyboard.press("Enter")
    page.get_by_role("link", name=SCOPE).click()
    for name in ("Banks", "Cards", "Rounds", "Episodes", "Jobs"):
        page.get_by_role("link", name=name, exact=True).click()
        assert page.locator("h1").inner_text().startswith(name)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
        page.screenshot(path=str(tmp_path / f"{name}.png"), full_page=True)
    page.get_by_role("link", name="Banks", exact=True).click()
    page.get_by_role("link", name="user-17").click()
    assert "never mention health" in page.locator("pre").first.inner_text()
    page.get_by_role("link", name="Cards", exact=True).click()
    assert "<script>alert(1)</script> 先问一个问题" in page.locator("main").inner_text()
    page.get_by_label("Words").fill("question")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Ask one question first.").click()
    assert (page.locator("ins").inner_text(), page.locator("del").inner_text()) == ("one", "a")
    if width == 1200:
        page.get_by_role("link", name="Rounds", exact=True).click()
        page.get_by_role("button", name="Approve").click()
        page.get_by_role("link", name="Cards", exact=True).click()
        assert "click +5.1 % [+1.1 %, +9.3 %], 40 strata" in page.locator("main").inner_text()
        page.screenshot(path=str(tmp_path / "forest.png"), full_page=True)
    assert problems == []
    context.close()


def test_words_that_came_and_went_are_marked_in_any_script() -> None:
    assert word_diff("Ask a <question", "Ask one <question") == "Ask <del>a</del><ins>one</ins> &lt;question"
    assert word_diff("先问一个问题", "先问两个问题") == "先问<del>一</del><ins>两</ins>个问题"
