"""From a request to a memory that its caller may use."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from fastapi.security import HTTPBearer

from afterwit.memory import Memory
from afterwit.model import Role, content_hash, new_id
from afterwit.service.keyring import Caller
from afterwit.service.office import Office

COOKIE = "afterwit_key"
ScopeName = Annotated[
    str | None, Query(max_length=300, description="Tenant and agent, as acme/push; may be left out with a key of one.")
]
_bearer = HTTPBearer(auto_error=False, description="A key: aw_…")
Sent = Annotated[Any, Depends(_bearer)]


@dataclass(frozen=True, kw_only=True)
class Granted:
    """A caller that may do what it asks. request_key: its idempotency key, where it sent one."""

    office: Office
    caller: Caller
    scope: str
    request_key: str | None

    @property
    def memory(self) -> Memory:
        """Raises UnknownScope."""
        return self.office.tenants.memory(self.scope)

    def require_scope(self) -> None:
        """Before something long is begun. Raises UnknownScope."""
        self.office.tenants.memory(self.scope)

    def new_id(self) -> str:
        """For what this request makes: the same when it comes again, so that trying twice makes one."""
        if self.request_key is None:
            return new_id()
        return content_hash(self.scope, self.caller.id, self.request_key)[:32]


def office_of(request: Request) -> Office:
    office: Office = request.app.state.office
    return office


def token_of(request: Request) -> str | None:
    """The key as sent: in the Authorization header, or by the page as a cookie."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return request.cookies.get(COOKIE)


def caller_of(request: Request) -> Caller:
    """Once a request, whoever needs it first."""
    if not hasattr(request.state, "caller"):
        request.state.caller = office_of(request).caller(token_of(request))
    found: Caller = request.state.caller
    return found


def may(role: Role) -> Callable[..., Granted]:
    """Depends on a caller with this role in the scope that it names."""

    def granted(request: Request, _sent: Sent, scope: ScopeName = None) -> Granted:
        caller = caller_of(request)
        named = caller.scope(scope)
        caller.require(role)
        return Granted(
            office=office_of(request),
            caller=caller,
            scope=named,
            request_key=request.headers.get("idempotency-key"),
        )

    return granted


Recalls = Annotated[Granted, Depends(may("recall"))]
Records = Annotated[Granted, Depends(may("record"))]
Evolves = Annotated[Granted, Depends(may("evolve"))]
Approves = Annotated[Granted, Depends(may("approve"))]
Administers = Annotated[Granted, Depends(may("admin"))]


def whole(request: Request, _sent: Sent) -> Office:
    """For what concerns all scopes."""
    caller_of(request).require_whole()
    return office_of(request)


def anyone(request: Request, _sent: Sent) -> Caller:
    return caller_of(request)


OfAllScopes = Annotated[Office, Depends(whole)]
Anyone = Annotated[Caller, Depends(anyone)]
