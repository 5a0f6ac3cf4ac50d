"""HTML of this machine without a browser."""

from pathlib import Path

import pytest

from afterwit.errors import InputError, Refused
from afterwit.providers.address import written
from test_perceive_browser import Answer, site


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<p>é 😀</p>".encode(), "<p>é 😀</p>"),
        ("\ufeff<p>é</p>".encode(), "<p>é</p>"),
        ("<p>é</p>".encode("utf-16"), "<p>é</p>"),
        ("<meta charset=windows-1251><p>чай</p>".encode("cp1251"), "чай"),
        ("<meta charset=nonsense><p>é</p>".encode(), "é"),
        (b"<p>\xff</p>", "<p>\ufffd</p>"),
        (b"", ""),
    ],
)
def test_a_file_is_decoded_as_it_says(tmp_path: Path, content: bytes, text: str) -> None:
    (tmp_path / "page.html").write_bytes(content)
    assert text in written(str(tmp_path / "page.html"))


def test_a_page_of_a_loopback_address_is_fetched_and_redirects_stay_here() -> None:
    answers: dict[str, Answer] = {
        "/": (302, {"Location": "/page"}, b""),
        "/page": (200, {"Content-Type": "text/html; charset=latin-1"}, "<p>é</p>".encode("latin-1")),
    }
    with site(answers) as (url, asked):
        assert written(f"{url}/") == "<p>é</p>"
    assert asked == ["/", "/page"]


@pytest.mark.parametrize(
    ("answer", "error", "why"),
    [
        ((302, {"Location": "https://example.com/"}, b""), Refused, "leads off this machine"),
        ((404, {}, b""), InputError, "answered 404"),
        ((200, {"Content-Type": "image/png"}, b"x"), InputError, "is image/png, not HTML"),
        ((0, {}, b""), InputError, "did not load within 0.5 s"),
    ],
)
def test_what_is_no_page_here_is_said_so(answer: Answer, error: type[Exception], why: str) -> None:
    with site({"/": answer}) as (url, _), pytest.raises(error, match=why):
        written(f"{url}/", deadline=0.5)


def test_a_page_elsewhere_is_never_asked_for() -> None:
    with pytest.raises(Refused):
        written("https://example.com/")
