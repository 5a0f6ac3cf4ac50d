"""Errors as answers: RFC 9457 problem details, one line that says what to do, nothing of what was sent."""

import json
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from afterwit.errors import (
    AccessDenied,
    AfterwitError,
    MissingExtra,
    ModelError,
    NotFound,
    RateLimited,
    Refused,
    StoreError,
    UnknownScope,
    UsageError,
)

_STATUS: tuple[tuple[type[AfterwitError], int], ...] = (
    (UnknownScope, 404),
    (NotFound, 404),
    (MissingExtra, 501),
    (UsageError, 422),
    (Refused, 409),
    (AccessDenied, 401),
    (RateLimited, 429),
    (ModelError, 502),
    (StoreError, 503),
)


def status_of(error: AfterwitError) -> int:
    if isinstance(error, AccessDenied) and error.known:
        return 403
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def problem(status: int, title: str, detail: str, headers: dict[str, str] | None = None) -> Response:
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    return Response(json.dumps(body), status, headers, media_type="application/problem+json")


def answer(error: AfterwitError) -> Response:
    status = status_of(error)
    if status >= 500:
        structlog.get_logger("afterwit.server").error("failed", kind=type(error).__name__, detail=str(error))
    if isinstance(error, StoreError):
        return problem(status, "StoreError", "the database failed; what was acknowledged stands, try again")
    headers = {}
    if isinstance(error, RateLimited):
        headers["Retry-After"] = str(max(1, round(error.after)))
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return problem(status, type(error).__name__, str(error), headers)


def install(app: FastAPI) -> None:
    @app.exception_handler(AfterwitError)
    async def known(_request: Request, error: AfterwitError) -> Response:
        return answer(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(_request: Request, error: RequestValidationError) -> Response:
        first: Any = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return problem(422, "InputError", f"{place}: {first['msg']}")

    @app.exception_handler(HTTPException)
    async def other(_request: Request, error: HTTPException) -> Response:
        return problem(error.status_code, "HTTPError", str(error.detail), dict(error.headers or {}))
