"""Serves the tools over stdio for one agent, or over HTTP for many."""

import uvicorn
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from afterwit.errors import AccessDenied, AfterwitError
from afterwit.mcp.tools import build, memory_of
from afterwit.memory import Memory
from afterwit.model import Role
from afterwit.service.keyring import Caller
from afterwit.service.office import Office
from afterwit.service.reach import on_this_machine, require_keys


def stdio(url: str, *, scope: str) -> None:
    """Whoever starts the process may do everything in the scope, which is made where there is none."""
    office = Office.open(url, executor=None)
    try:
        office.tenants.make(scope)
        build(lambda _token, role: memory_of(Caller(), scope, role, office.tenants.memory)).run("stdio")
    finally:
        office.close()


def http(url: str, *, scope: str | None, host: str, port: int) -> None:
    """scope: for callers whose key names several. Raises InputError beyond this machine without keys."""
    office = Office.open(url, executor=None, keys_required=not on_this_machine(host))
    try:
        require_keys(office, host)
        app = application(office, scope=scope, host=host)
        uvicorn.run(app, host=host, port=port, log_level="warning", server_header=False, timeout_graceful_shutdown=10)
    finally:
        office.close()


def application(office: Office, *, scope: str | None, host: str = "127.0.0.1") -> ASGIApp:
    def memory(token: str | None, role: Role) -> Memory:
        return memory_of(office.caller(token), scope, role, office.tenants.memory)

    app = build(memory).streamable_http_app(stateless_http=True, json_response=True, host=host)
    return Door(app, office)


class Door:
    """No word of the protocol is spoken with a caller whose key is not known."""

    def __init__(self, app: ASGIApp, office: Office) -> None:
        self._app = app
        self._office = office

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            sent = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1").partition(" ")[2].strip()
            try:
                await run_in_threadpool(self._office.keyring.caller, sent or None)
            except AfterwitError as error:
                status = 401 if isinstance(error, AccessDenied) else 503
                refused = PlainTextResponse(str(error), status, {"WWW-Authenticate": "Bearer"})
                await refused(scope, receive, send)
                return
        await self._app(scope, receive, send)
