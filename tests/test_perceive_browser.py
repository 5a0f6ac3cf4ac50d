"""Pages in a real Chromium: what is on this machine is shown, what is not is never asked for."""

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from afterwit.errors import InputError, Refused
from afterwit.providers.address import address, loopback
from afterwit.providers.browser import Chromium

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
real = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: apt-get install chromium")

Answer = tuple[int, dict[str, str], bytes]


@contextmanager
def site(answers: dict[str, Answer]) -> Iterator[tuple[str, list[str]]]:
    """A server on a loopback port, and the paths that it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            status, headers, body = answers.get(self.path, (404, {}, b""))
            if status == 0:
                self.connection.settimeout(10)
                waits = self.connection.recv(1)  # until the other side gives up
                assert waits == b""
                return
            self.send_response(status)
            for name, value in {"Content-Type": "text/html", "Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            pass

    server = Quiet(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def page(folder: Path, html: str, name: str = "page.html") -> str:
    place = folder / name
    place.write_text(html, encoding="utf-8")
    return str(place)


@pytest.mark.parametrize(
    "source",
    [
        "https://example.com/",
        "http://127.0.0.1.example.com/",
        "http://127.0.0.1@example.com/",
        "http://localhost.example.com/",
        "http://2130706433/",
        "http://0.0.0.0/",
        "http://10.0.0.1/",
        "http://[::ffff:8.8.8.8]/",
        "file://example.com/page.html",
        "ftp://localhost/page.html",
        "data:text/html,x",
        "javascript:alert(1)",
        "chrome://version",
    ],
)
def test_addresses_off_this_machine_are_refused_before_anything_starts(source: str) -> None:
    with pytest.raises(Refused):
        address(source)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000/a", "http://localhost/", "http://[::1]:80/", "http://127.9.9.9/"]
)
def test_addresses_of_this_machine_are_known_by_what_is_written(url: str) -> None:
    assert loopback(url)
    assert address(url) == url


def test_files_that_are_no_pages_are_said_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        address(str(tmp_path / "none.html"))
    with pytest.raises(InputError, match="directory"):
        address(str(tmp_path))
    (tmp_path / "image.html").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    with pytest.raises(InputError, match="binary"):
        address(str(tmp_path / "image.html"))


def test_a_file_is_known_by_its_path_and_by_its_url(tmp_path: Path) -> None:
    path = page(tmp_path, "x", "a page é.html")
    assert address(path) == address(Path(path).as_uri()) == Path(path).resolve().as_uri()


@real
def test_a_page_is_shown_as_it_is_after_loading(tmp_path: Path) -> None:
    (tmp_path / "p.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><circle r='50' fill='red'/></svg>")
    shot = Chromium(width=600)(
        page(
            tmp_path,
            "<body style='margin:0'><h1 id=a>before</h1><img src='p.svg' alt='Kettle' width=300 height=200>"
            "<img src='none.png' width=400 height=300>"
            "<script>document.getElementById('a').textContent = 'after 😀 שלום'</script>",
        )
    )
    assert "after 😀 שלום" in shot.html
    assert (shot.width, len(shot.tiles), shot.cut, shot.refused) == (600, 1, False, 0)
    assert shot.tiles[0].png.startswith(b"\x89PNG")
    kettle, missing = shot.pictures
    assert (kettle.text, kettle.box.width, kettle.source) == ("Kettle", 300, (tmp_path / "p.svg").as_uri())
    assert kettle.png.startswith(b"\x89PNG")
    assert missing.png == b""


@real
def test_a_page_of_twenty_thousand_pixels_comes_in_tiles_that_overlap_and_what_is_below_is_cut(tmp_path: Path) -> None:
    shot = Chromium(width=400, tile=4_000, tallest=20_000)(
        page(tmp_path, "<body style='margin:0'><div style='height:20500px'>top</div>")
    )
    assert (shot.height, len(shot.tiles), shot.cut) == (20_500, 5, True)
    assert shot.tiles[0].box.top == 0
    assert shot.tiles[-1].box.bottom == 20_000
    assert all(one.box.bottom - other.box.top == 80 for one, other in zip(shot.tiles, shot.tiles[1:], strict=False))


@real
def test_a_file_loads_from_its_folder_and_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret words")
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "own.js").write_text("document.documentElement.dataset.own = 'yes'")
    with site({"/": (200, {}, b"")}) as (url, asked):
        shot = Chromium(width=300)(
            page(
                folder,
                f"<script src=own.js></script><iframe src='../secret.txt'></iframe><iframe src=.token></iframe>"
                f"<img src='{url}/pixel.png'>"
                "<img src='https://example.com/pixel.png'><link rel=stylesheet href='//example.com/a.css'>"
                "<link rel=preconnect href='https://example.com'><link rel=prefetch href='https://example.com/b'>"
                f"<script>new WebSocket('{url.replace('http', 'ws')}/ws'); fetch('{url}/fetch').catch(() => 0);"
                f"navigator.sendBeacon('{url}/beacon', 'x'); window.open('{url}/window')</script>",
            )
        )
        assert asked == []
    assert 'data-own="yes"' in shot.html
    assert "secret words" not in shot.html
    assert shot.refused >= 6


@real
def test_a_loopback_page_may_lead_to_loopback_and_loads_from_there_alone() -> None:
    body = b"<img src=/kettle.png><img src='https://example.com/x.png'><iframe src='file:///etc/hostname'></iframe>"
    there = {"/": (302, {"Location": "/there"}, b""), "/there": (200, {}, body)}
    with site({**there, "/kettle.png": (200, {"Content-Type": "image/png"}, b"")}) as (url, asked):
        shot = Chromium(width=300)(f"{url}/")
        assert {"/there", "/kettle.png"} <= set(asked)
    assert shot.refused >= 1


@real
@pytest.mark.parametrize(
    "answer",
    [
        (302, {"Location": "http://example.com/"}, b""),
        (200, {}, b"<meta http-equiv=refresh content='0;url=http://example.com/'>"),
        (200, {}, b"<script>location.href = 'http://example.com/'</script>"),
    ],
)
def test_a_page_that_leads_off_this_machine_is_refused(answer: Answer) -> None:
    with site({"/": answer}) as (url, _), pytest.raises(Refused, match=r"example\.com"):
        Chromium(width=300)(f"{url}/")


@real
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((200, {"Content-Type": "application/octet-stream"}, b"\0\1\2"), "cannot be shown|not HTML"),
        ((404, {}, b"<h1>Not here</h1>"), "404"),
    ],
)
def test_what_is_no_page_is_said_so(answer: Answer, why: str) -> None:
    with site({"/": answer}) as (url, _), pytest.raises(InputError, match=why):
        Chromium(width=300)(f"{url}/")


@real
@pytest.mark.parametrize(
    "answer",
    [(200, {}, b"<img src=/never>"), (200, {}, b"<h1>x</h1><script>while (true) {}</script>")],
)
def test_a_page_that_never_loads_has_a_time_limit(answer: Answer) -> None:
    with (
        site({"/": answer, "/never": (0, {}, b"")}) as (url, _),
        pytest.raises(InputError, match="did not load within"),
    ):
        Chromium(width=300, deadline=2)(f"{url}/")


@real
def test_a_port_that_no_one_listens_on_is_said_so() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(InputError, match="cannot be shown"):
            Chromium(width=300)(f"http://127.0.0.1:{taken.getsockname()[1]}/")
