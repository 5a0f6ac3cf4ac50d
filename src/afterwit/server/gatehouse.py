"""What every request passes before it is read: size, origin, a log line, a span."""

import time
from urllib.parse import urlsplit

import structlog
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from afterwit.model import new_id
from afterwit.server.problems import problem
from afterwit.server.telemetry import request_span
from afterwit.service.office import Limits

_LOOPBACK = {"localhost", "127.0.0.1", "::1", "testserver"}
_LOG_PATHS = ("/v1/logs", "/v1/import")
_SECURE = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),  # without any, a form of the own page would send no Origin
    (b"cache-control", b"no-store"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
]


class Gatehouse:
    """local: the service listens on this machine alone, so that a Host of another name is a page that was led here (DNS
    rebinding). An Origin that is not this host is refused always: keys in cookies serve the own page only."""

    def __init__(self, app: ASGIApp, *, limits: Limits, local: bool) -> None:
        self._app = app
        self._limits = limits
        self._local = local
        self._log = structlog.get_logger("afterwit.server")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, path = Headers(scope=scope), scope["path"]
        number, start, status = headers.get("x-request-id", "")[:64] or new_id(), time.perf_counter(), 500
        limit = self._limits.log if path in _LOG_PATHS else self._limits.body
        left = limit

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            if message["type"] == "http.request":
                left -= len(message.get("body", b""))
                if left < 0:
                    raise HTTPException(413, _too_large(limit))
            return message

        async def answered(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message["headers"],
                    *_SECURE,
                    (b"x-request-id", number.encode("latin-1", "replace")),
                ]
            await send(message)

        with request_span(scope["method"], path) as span:
            try:
                if refusal := self._refusal(headers):
                    await problem(403, "AccessDenied", refusal)(scope, receive, answered)
                elif _announced(headers) > limit:
                    await problem(413, "HTTPError", _too_large(limit))(scope, receive, answered)
                else:
                    await self._app(scope, counted, answered)
            finally:
                route = str(getattr(scope.get("route"), "path", "unknown"))
                span.end(status, route)
                self._log.info(
                    "request",
                    id=number,
                    method=scope["method"],
                    route=route,
                    status=status,
                    ms=round(1000 * (time.perf_counter() - start), 1),
                    caller=getattr(scope.get("state", {}).get("caller"), "id", None),
                )

    def _refusal(self, headers: Headers) -> str:
        host = headers.get("host", "")
        if self._local and urlsplit(f"//{host}").hostname not in _LOOPBACK:
            return "this service answers on this machine alone"
        origin = headers.get("origin")
        if origin and urlsplit(origin).netloc != host:
            return "a page of another site may not ask this service"
        return ""


def _too_large(limit: int) -> str:
    return f"the request is larger than {limit:,} bytes: send less at once"


def _announced(headers: Headers) -> int:
    said = headers.get("content-length", "")
    return int(said) if said.isascii() and said.isdigit() else 0
