"""Requests that come again: a write with an ``Idempotency-Key`` is done once and answered alike each time."""

import hashlib
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from afterwit.errors import Conflict, InputError
from afterwit.model import Answered
from afterwit.server.access import caller_of, office_of

HEADER = "idempotency-key"
_LONGEST = 200


class OnceRoute(APIRoute):
    """Only answers of success are kept: what was refused changed nothing and may be tried again."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def once(request: Request) -> Response:
            key = request.headers.get(HEADER)
            if key is None or request.method == "GET":
                return await handle(request)
            if not key or len(key) > _LONGEST or not key.isprintable():
                raise InputError(f"the Idempotency-Key is empty, unprintable or above {_LONGEST} characters")
            caller = await run_in_threadpool(caller_of, request)
            scope = caller.scope(request.query_params.get("scope"))
            office = office_of(request)
            replies, now = office.parts.replies, office.parts.place.clock()
            fingerprint = await _fingerprint(request)
            kept = await run_in_threadpool(replies.begin, scope, caller.id, key, fingerprint, now)
            if kept is not None:
                return _again(kept, fingerprint)
            done: Answered | None = None
            try:
                response = await handle(request)
                if response.status_code < 300 and hasattr(response, "body"):
                    done = Answered(
                        fingerprint=fingerprint,
                        at=now,
                        status=response.status_code,
                        media=response.headers.get("content-type", ""),
                        body=bytes(response.body).decode(),
                    )
                return response
            finally:
                await run_in_threadpool(replies.finish, scope, caller.id, key, done)

        return once


async def _fingerprint(request: Request) -> str:
    digest = hashlib.sha256(f"{request.method} {request.url.path}?{request.url.query}\n".encode())
    digest.update(await request.body())
    return digest.hexdigest()


def _again(kept: Answered, fingerprint: str) -> Response:
    if kept.fingerprint != fingerprint:
        raise InputError("this Idempotency-Key was used for another request: give each request its own")
    if kept.status is None:
        raise Conflict("the same request is being worked on: ask again in a moment")
    if kept.status == 410:
        raise Conflict("the same request was done, and its answer was erased when something was forgotten")
    return Response(kept.body, kept.status, {"Idempotency-Replayed": "true"}, media_type=kept.media or None)
