"""Users' long histories in bounded profiles."""

from typing import Annotated

from fastapi import APIRouter, Query

from afterwit.digest.answer import Candidate
from afterwit.digest.history import interaction
from afterwit.digest.profile import UserProfile
from afterwit.errors import NotFound
from afterwit.model import Profile
from afterwit.server import bodies
from afterwit.server.access import Granted, Recalls, Records
from afterwit.server.again import OnceRoute
from afterwit.server.routes.serving import Limit

routes = APIRouter(prefix="/v1", tags=["profiles"], route_class=OnceRoute)
User = Annotated[str, Query(min_length=1, max_length=300)]
Version = Annotated[int, Query(ge=1, le=10**9)]


@routes.get("/profiles")
def users(granted: Recalls) -> bodies.ScopeList:
    """Who has one."""
    return bodies.ScopeList(items=list(granted.memory.users()))


@routes.get("/profile")
def profile(granted: Recalls, user: User) -> Profile:
    """The newest version."""
    return _known(granted, user).current


@routes.post("/profile/history")
def read(granted: Records, user: User, body: bodies.History) -> Profile:
    """Folds what the user did into the profile; what was folded before is skipped."""
    rows = [interaction(row) for row in body.interactions]
    return granted.memory.profile(user, budget=body.budget).read(rows)


@routes.put("/profile")
def edit(granted: Records, user: User, body: bodies.Profiled) -> Profile:
    """A person's text in place of the newest; what is written by hand stays."""
    return _known(granted, user).edit(body.text)


@routes.get("/profile/versions")
def versions(granted: Recalls, user: User, limit: Limit = 50) -> bodies.ProfileVersions:
    """Newest first."""
    return bodies.ProfileVersions(items=list(_known(granted, user).versions()[:limit]))


@routes.get("/profile/diff")
def diff(granted: Recalls, user: User, before: Version, after: Version | None = None) -> list[str]:
    return _known(granted, user).diff(before, after)


@routes.post("/profile/constraints")
def constrain(granted: Records, user: User, body: bodies.Said) -> Profile:
    """This and every later version respects it: `never mention health`."""
    return _profile(granted, user).constrain(body.said)


@routes.post("/profile/release")
def release(granted: Records, user: User, body: bodies.Said) -> Profile:
    """Takes a constraint back."""
    return _known(granted, user).release(body.said)


@routes.post("/profile/rollback")
def rollback(granted: Records, user: User, body: bodies.To) -> Profile:
    return _known(granted, user).rollback(body.version)


@routes.post("/profile/rank")
def rank(granted: Recalls, user: User, body: bodies.Ranking) -> list[str]:
    """Ids of the candidates, best first, from the profile's text alone."""
    candidates = [Candidate(id=one.id, title=one.title, text=one.text) for one in body.candidates]
    return [one.id for one in _known(granted, user).rank(candidates, query=body.query)]


def _profile(granted: Granted, user: str) -> UserProfile:
    """With the budget of its newest version: a caller that changes one line does not change the room."""
    plain = granted.memory.profile(user)
    newest = plain.current
    return granted.memory.profile(user, budget=newest.budget) if newest.version else plain


def _known(granted: Granted, user: str) -> UserProfile:
    found = _profile(granted, user)
    if found.current.version == 0:
        raise NotFound(f"there is no profile of {user!r} in scope {granted.scope!r}")
    return found
