"""Scopes, erasing, moving, checking, settings, keys."""

import json
from collections.abc import Iterator

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from afterwit.errors import InputError
from afterwit.model import Key, Settings
from afterwit.ports import Forgotten
from afterwit.server import bodies
from afterwit.server.access import Administers, Anyone, OfAllScopes, Recalls, office_of
from afterwit.server.again import OnceRoute

routes = APIRouter(prefix="/v1", tags=["keeping"], route_class=OnceRoute)
streams = APIRouter(prefix="/v1", tags=["keeping"])


@routes.get("/scopes")
def scopes(request: Request, caller: Anyone) -> bodies.ScopeList:
    """Those that this caller reaches."""
    return bodies.ScopeList(items=[s for s in office_of(request).tenants.scopes() if caller.reaches(s)])


@streams.put("/scope", status_code=201)
def make(granted: Administers) -> bodies.ScopeList:
    """Makes the scope; one that is there already stays as it is."""
    granted.office.tenants.make(granted.scope)
    return bodies.ScopeList(items=[granted.scope])


@routes.post("/forget")
def forget(granted: Administers, body: bodies.Forget) -> Forgotten:
    """Erases a text for good, from tables, segments, kept answers and waiting logs; a tombstone stays."""
    done = granted.memory.forget(
        card_id=body.card,
        episode_id=body.episode,
        delivery_id=body.delivery,
        user=body.user,
        everything=body.everything,
    )
    granted.office.spool.forget(granted.scope, everything=body.everything)
    return done


@streams.get("/export", response_class=StreamingResponse)
def export(granted: Administers) -> StreamingResponse:
    """The whole scope as JSON Lines; nothing of it is left on the server."""
    granted.require_scope()
    lines = granted.office.parts.place.store.export(granted.scope)

    def told() -> Iterator[str]:
        for line in lines:
            yield line + "\n"

    return StreamingResponse(told(), media_type="application/x-ndjson")


@streams.post("/import", status_code=201)
async def import_(request: Request, granted: Administers) -> int:
    """An export, as the request's body, into a scope that is not there yet; the count of its lines."""
    try:
        lines = (await request.body()).decode().removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        raise InputError("an export is UTF-8") from None
    if f'"scope":{json.dumps(granted.scope, ensure_ascii=False)}' not in lines[0]:
        raise InputError(f"the export is not of scope {granted.scope!r}")
    return await run_in_threadpool(granted.office.parts.place.store.import_lines, lines)


@routes.get("/check")
def check(granted: Administers, bank: bodies.BankName = "content") -> bodies.Checked:
    """Problems of the ledger, and what somebody should know of a bank's settings; both empty when all is well."""
    memory = granted.memory
    return bodies.Checked(problems=list(memory.check()), notices=list(memory.notices(bank=bank)))


@routes.get("/settings")
def settings(granted: Recalls, bank: bodies.BankName = "content") -> Settings:
    return granted.memory.settings(bank=bank)


@routes.patch("/settings")
def configure(granted: Administers, body: bodies.Configured) -> Settings:
    """Changes what is given; a lowered capacity is met by the next round."""
    return granted.memory.configure(**body.model_dump())


@routes.get("/keys")
def keys(office: OfAllScopes) -> bodies.KeyList:
    """Without secrets, revoked ones too."""
    return bodies.KeyList(items=[_shown(key) for key in office.parts.keys.all()])


@streams.post("/keys", status_code=201)
def add_key(office: OfAllScopes, body: bodies.NewKey) -> bodies.ShownKey:
    """Its token is shown in this answer alone."""
    key, token = office.keyring.add(body.name, scopes=body.scopes, roles=body.roles)
    return _shown(key).model_copy(update={"token": token})


@streams.delete("/keys/{key_id}")
def revoke_key(office: OfAllScopes, key_id: bodies.Id) -> bodies.ShownKey:
    return _shown(office.keyring.revoke(key_id))


def _shown(key: Key) -> bodies.ShownKey:
    return bodies.ShownKey.model_validate(key, from_attributes=True)
