"""Who may do what: a key of the service, bound to scopes and roles."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

Role = Literal["recall", "record", "evolve", "approve", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, kw_only=True)
class Key:
    """An API key without its secret.

    scopes: exact names, or ``acme/*`` for all that begin with ``acme/``, or ``*``. roles: recall (read and search),
    record (episodes, outcomes, profiles), evolve (rounds and cards by hand), approve (decide and undo rounds), admin
    (scopes, forgetting, export). A role holds for itself alone. hash: of the secret.
    """

    id: str
    name: str
    scopes: tuple[str, ...]
    roles: tuple[Role, ...]
    hash: str
    created_at: datetime
    revoked_at: datetime | None = None

    def reaches(self, scope: str) -> bool:
        return any(
            scope.startswith(pattern[:-1]) if pattern.endswith("*") else scope == pattern for pattern in self.scopes
        )

    def allows(self, role: Role) -> bool:
        return role in self.roles and self.revoked_at is None


@dataclass(frozen=True, kw_only=True)
class Answered:
    """What a request with an idempotency key was answered. fingerprint: of method, path and body. status: None while
    it is being worked on; 410 without body once its scope forgot something."""

    fingerprint: str
    at: datetime
    status: int | None = None
    media: str = ""
    body: str = ""
