"""The service as an ASGI application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import anyio
from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool

from afterwit import __version__
from afterwit.server import problems
from afterwit.server.gatehouse import Gatehouse
from afterwit.server.page import views
from afterwit.server.routes import cards, health, keeping, outcomes, profiles, serving
from afterwit.service.office import Office

_KEPT = timedelta(days=1)  # answers to requests that may come again


def build(office: Office, *, local: bool = True) -> FastAPI:
    """local: it listens on this machine alone. The office is closed with the application."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_sweep, office)
            yield
            tasks.cancel_scope.cancel()
        await run_in_threadpool(office.close)

    app = FastAPI(
        title="Afterwit",
        version=__version__,
        description=__doc__ + " Memory for LLM agents that learns from what happened afterwards.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
    )
    app.state.office = office
    problems.install(app)
    for room in (serving, outcomes, cards, profiles, keeping, health):
        app.include_router(room.routes, responses=_REFUSALS)
        if hasattr(room, "streams"):
            app.include_router(room.streams, responses=_REFUSALS)
    app.include_router(views.routes)
    app.add_middleware(Gatehouse, limits=office.limits, local=local)
    return app


_PROBLEM = {"content": {"application/problem+json": {"schema": {"type": "object"}}}}
_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"description": text, **_PROBLEM}
    for status, text in {
        400: "Not JSON",
        401: "No key, or none that is known",
        403: "The key lacks the role",
        404: "No such scope or thing, or not this caller's",
        409: "A law of the memory forbids it, or the same request is being worked on",
        413: "Too large",
        422: "The request does not say something that can be done",
        429: "Too many requests",
        501: "An extra is not installed",
        502: "A model failed",
        503: "The database failed",
    }.items()
}


async def _sweep(office: Office) -> None:
    while True:
        await run_in_threadpool(office.parts.replies.expire, office.parts.place.clock() - _KEPT)
        await anyio.sleep(3600)
