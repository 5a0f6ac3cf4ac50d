"""Pages of this machine: where they are, and their HTML as it was written."""

import ipaddress
import re
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener, url2pathname

from afterwit.errors import InputError, Refused

_LARGEST = 50_000_000
_CHARSET = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w-]{2,30})""", re.IGNORECASE)


def written(source: str, *, deadline: float = 60.0) -> str:
    """The HTML of a page, for where no browser is: scripts do not run, redirects stay on this machine. Raises Refused
    and InputError."""
    url = address(source)
    if url.startswith("file:"):
        return _decoded(path_of(url).read_bytes()[:_LARGEST], None)
    opener = build_opener(ProxyHandler({}), _StaysHere)
    try:
        with opener.open(Request(url, headers={"User-Agent": "afterwit"}), timeout=deadline) as answer:
            kind = answer.headers.get_content_type()
            if kind not in ("text/html", "application/xhtml+xml", "text/plain"):
                raise InputError(f"{source} is {kind}, not HTML")
            return _decoded(answer.read(_LARGEST), answer.headers.get_content_charset())
    except HTTPError as error:
        raise InputError(f"{source} answered {error.code}") from None
    except TimeoutError:
        raise InputError(f"{source} did not load within {deadline:g} s: raise the deadline") from None
    except (URLError, HTTPException, OSError) as error:
        raise InputError(f"{source} cannot be loaded: {getattr(error, 'reason', error)}") from None


class _StaysHere(HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        if not loopback(newurl):
            raise Refused(f"the page leads off this machine, to {newurl[:200]}: it was not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _decoded(content: bytes, charset: str | None) -> str:
    """By its byte-order mark, what the server says, or what it says itself; else UTF-8 with signs for what is not."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    said = _CHARSET.search(content[:4096])
    try:
        return content.decode(charset or (said[1].decode("ascii") if said else "utf-8-sig"), "replace")
    except LookupError:
        return content.decode("utf-8-sig", "replace")


def address(source: str) -> str:
    """The URL of a page of this machine. Raises Refused for any other, InputError where there is no such file or it
    is not text."""
    parts = urlsplit(source)
    scheme = parts.scheme.casefold()
    if scheme in ("http", "https"):
        if not loopback(source):
            raise Refused(f"{source} is not on this machine: only files and loopback addresses are looked at")
        return source
    if scheme == "file" and parts.netloc not in ("", "localhost"):
        raise Refused(f"{source} is not on this machine: only files and loopback addresses are looked at")
    if len(scheme) > 1 and scheme != "file" and not Path(source).exists():
        raise Refused(f"{source} is neither a file nor a loopback address: nothing else is looked at")
    path = path_of(source) if scheme == "file" else Path(source)
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{path} is not HTML: it holds binary data")
    return path.resolve().as_uri()


def loopback(url: str) -> bool:
    """Whether its host is this machine by what is written, with no name to be looked up."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https", "ws", "wss"):
        return False
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def path_of(url: str) -> Path:
    return Path(url2pathname(urlsplit(url).path))
