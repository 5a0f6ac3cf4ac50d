"""Chromium, shown pages of this machine only."""

import base64
import os
import shutil
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from afterwit.errors import InputError, MissingExtra, Refused, UsageError
from afterwit.model.page import Box, Picture, Screenshot, Tile
from afterwit.providers.address import address, loopback, path_of
from afterwit.providers.endpoint import within

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_OVERLAP = 40
"""Pixels that a tile takes of each neighbour: text up to twice as high is whole in one of them."""

_ARGUMENTS = (
    "--disable-background-networking",
    "--disable-gpu",
    "--no-first-run",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    # Requests after a redirect pass no handler, nor do prefetches: whatever is not on this machine goes to a proxy
    # that is not there.
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=localhost;127.0.0.1/8;[::1]",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.*, EXCLUDE [::1]",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)

_PICTURES = """() => [...document.images].map(image => [image, image.getBoundingClientRect()])
    .filter(([image, box]) => box.width >= 64 && box.height >= 64)
    .slice(0, 200)
    .map(([image, box], place) => ({
        source: image.currentSrc || image.src || "", text: image.alt || "",
        large: image.naturalWidth > 0 && box.width * box.height >= 22500 && place < 40,
        left: box.left + scrollX, top: box.top + scrollY, width: box.width, height: box.height}))"""

_PLAIN = """() => {
    const style = document.createElement("style");
    style.textContent = `:where(svg:not([width])) { width: 1.5em; height: 1.5em }
        nav, footer, dialog, [role=navigation], [role=contentinfo], [role=dialog], [role=menu], [role=menubar],
        [aria-modal=true] { display: none !important }`;
    (document.head || document.documentElement).prepend(style);
    const all = [...document.body?.querySelectorAll("*") ?? []];
    for (const element of all) {
        const now = getComputedStyle(element);
        const set = (name, value) => element.style.setProperty(name, value, "important");
        if (["absolute", "fixed", "sticky"].includes(now.position)) set("position", "static");
        if (now.transform !== "none") set("transform", "none");
        for (const side of ["margin-left", "margin-top", "left", "top", "text-indent"])
            if (parseFloat(now[side]) < 0) set(side, "0");
        if (element.style.height && !["IMG", "svg", "VIDEO", "CANVAS", "IFRAME"].includes(element.tagName))
            set("height", "auto");
    }
    const letters = element => element.textContent.replace(/\\s+/g, "").length;
    const menu = element => {
        const links = [...element.querySelectorAll("a[href]")];
        return links.length >= 15 && !element.querySelector("h1, [itemprop=price], form")
            && links.reduce((sum, link) => sum + letters(link), 0) >= 0.85 * letters(element);
    };
    const drop = element => {
        if (menu(element)) element.style.setProperty("display", "none", "important");
        else [...element.children].forEach(drop);
    };
    [...document.body?.children ?? []].forEach(drop); }"""
"""Without the style sheets that arrange it, a page would lay out menus that open on a touch, and boxes over one another
where scripts had put them, and icons as large as the window. What leads elsewhere goes: navigation, footers, and parts
that are nearly all links; what floats is put where it stands in the document."""

_STILL = """() => { window.stop(); scrollTo(0, 0); }"""


class Chromium:
    """A browser that is started for each page and leaves nothing behind.

    A file may load files of its own folder, hidden ones aside, a page of a loopback address what loopback addresses
    serve; all else is refused: requests, redirects, frames, sockets. Scripts run unless told otherwise.
    """

    def __init__(
        self,
        executable: str | None = None,
        *,
        width: int = 1280,
        tile: int = 1600,
        tallest: int = 48_000,
        deadline: float = 60.0,
        scripts: bool = True,
    ) -> None:
        """executable: found on the path if left out. width: of the window. tile: pixels of height in one picture.
        tallest: what a page has below is not seen. deadline: seconds for a page in all. Raises MissingExtra and
        UsageError."""
        if find_spec("playwright") is None:
            raise MissingExtra("playwright", "browser")
        found = executable or next(filter(None, map(shutil.which, _NAMES)), None)
        if found is None:
            raise UsageError("no Chromium on this machine: install it (apt-get install chromium) or name its path")
        self._executable = found
        self._width, self._tile, self._tallest = width, tile, tallest
        self._deadline, self._scripts = deadline, scripts
        self.name = f"chromium:{width}x{tile}x{tallest}" + ("" if scripts else ":no-scripts")

    def __call__(self, source: str) -> Screenshot:
        url = address(source)
        try:
            return within(self._deadline, lambda: self._look(url))
        except TimeoutError:
            raise InputError(f"{source} did not load within {self._deadline:g} s: raise the deadline") from None

    async def _look(self, url: str) -> Screenshot:
        from playwright.async_api import Error, async_playwright  # optional, and takes a moment

        async with async_playwright() as playwright:
            root = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
            browser = await playwright.chromium.launch(executable_path=self._executable, args=[*_ARGUMENTS, *root])
            try:
                context = await browser.new_context(
                    viewport={"width": self._width, "height": 1000},
                    java_script_enabled=self._scripts,
                    accept_downloads=False,
                    service_workers="block",
                    reduced_motion="reduce",
                )
                context.set_default_timeout(0)  # the deadline is for all of it
                border = _Border(url)
                await context.route("**/*", border.route)  # of windows that the page opens, too
                await context.route_web_socket("**/*", border.socket)
                return await self._show(await context.new_page(), url, border)
            except Error as error:
                raise InputError(f"{url} cannot be shown: {' '.join(error.message.split())[:200]}") from None
            finally:
                with suppress(Error):
                    await browser.close()

    async def _show(self, page: Any, url: str, border: "_Border") -> Screenshot:
        from playwright.async_api import Error

        page.on("request", border.seen)
        try:
            answer = await page.goto(url, wait_until="load")
        except Error:
            border.check()
            raise
        border.check()
        kind = (answer.headers if answer else {}).get("content-type", "text/html").partition(";")[0].strip()
        if kind not in ("text/html", "application/xhtml+xml", "text/plain"):
            raise InputError(f"{url} is {kind or 'of no kind'}, not HTML")
        if answer is not None and answer.status >= 400:
            raise InputError(f"{url} answered {answer.status}")
        with suppress(Error):  # a page without scripts evaluates nothing of its own, and need not be stopped
            await page.evaluate(_STILL)
        if border.unstyled:
            await page.evaluate(_PLAIN)
        border.check()
        height = int(await page.evaluate("document.documentElement.scrollHeight"))
        shown = max(1, min(height, self._tallest))
        camera = await page.context.new_cdp_session(page)
        tiles = [await self._shoot(camera, top, shown) for top in range(0, shown, self._tile)]
        pictures = [await self._picture(camera, found, shown) for found in await page.evaluate(_PICTURES)]
        html = await page.content()
        border.check()
        return Screenshot(
            tiles=tuple(tiles),
            width=self._width,
            height=height,
            html=html,
            pictures=tuple(pictures),
            cut=shown < height,
            refused=border.refused,
        )

    async def _shoot(self, camera: Any, top: int, shown: int) -> Tile:
        first, last = max(0, top - _OVERLAP), min(shown, top + self._tile + _OVERLAP)
        box = Box(left=0, top=first, width=self._width, height=last - first)
        return Tile(png=await _clipped(camera, box), box=box)

    async def _picture(self, camera: Any, found: dict[str, Any], shown: int) -> Picture:
        box = Box(left=found["left"], top=found["top"], width=found["width"], height=found["height"])
        whole = box.left >= 0 and box.top >= 0 and box.bottom <= shown and box.height <= self._tile
        return Picture(
            source=found["source"] if len(found["source"]) <= 2000 else "",
            text=" ".join(found["text"].split())[:300],
            box=box,
            png=await _clipped(camera, box) if found["large"] and whole else b"",
        )


async def _clipped(camera: Any, box: Box) -> bytes:
    """A part of the page, without laying it out anew as a full-page screenshot of a part would."""
    clip = {"x": box.left, "y": box.top, "width": box.width, "height": box.height, "scale": 1}
    options = {"format": "png", "captureBeyondViewport": True, "optimizeForSpeed": True, "clip": clip}
    taken = await camera.send("Page.captureScreenshot", options)
    return base64.b64decode(taken["data"])


class _Border:
    """Lets through what belongs to a page of this machine, counts the rest, and says where the page itself would go."""

    def __init__(self, url: str) -> None:
        self._folder = path_of(url).parent.resolve() if url.startswith("file:") else None
        self.refused = 0
        self.unstyled = False
        self._left: str | None = None

    def allows(self, url: str) -> bool:
        if url.startswith(("data:", "blob:", "about:")):
            return True
        if self._folder is None:
            return loopback(url)
        path = path_of(url).resolve()
        if not url.startswith("file:") or not path.is_relative_to(self._folder):
            return False
        return not any(part.startswith(".") for part in path.relative_to(self._folder).parts)

    def seen(self, request: Any) -> None:
        """Also told of what a redirect asks for, which no route is."""
        if self.allows(request.url):
            return
        self.refused += 1
        self.unstyled |= request.resource_type == "stylesheet"
        if request.is_navigation_request() and request.frame.parent_frame is None:
            self._left = request.url

    async def route(self, route: Any) -> None:
        if self.allows(route.request.url):
            await route.continue_()
        else:
            await route.abort("blockedbyclient")

    async def socket(self, socket: Any) -> None:
        if self.allows(socket.url):
            socket.connect_to_server()
        else:
            self.refused += 1
            await socket.close()

    def check(self) -> None:
        if self._left is not None:
            raise Refused(f"the page leads off this machine, to {self._left[:200]}: it was not followed")
