"""Keys: made, told apart, checked. The secret is shown once; what is kept is its hash."""

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from afterwit.errors import AccessDenied, InputError, NotFound, UnknownScope
from afterwit.model import ROLES, Key, Role
from afterwit.ports import Clock, Keys

_PREFIX = "aw"


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Who asks. key: None for somebody on this machine where no keys are in use, who may do everything."""

    key: Key | None = None

    @property
    def id(self) -> str:
        return self.key.id if self.key else "local"

    def scope(self, named: str | None) -> str:
        """The scope that a request is about. Raises UnknownScope alike for one that does not exist and one that is
        somebody else's: which of the two is not told, and was not looked up."""
        if named is None and self.key and len(self.key.scopes) == 1 and not self.key.scopes[0].endswith("*"):
            return self.key.scopes[0]
        if named is None or not named.strip():
            raise InputError("which scope? name it as ?scope=acme/push, or use a key of one scope")
        if not self.reaches(named):
            raise UnknownScope(f"there is no scope {named!r} in this store: make it with 'afterwit init'")
        return named

    def reaches(self, scope: str) -> bool:
        return self.key is None or self.key.reaches(scope)

    def require(self, role: Role) -> None:
        if self.key is not None and not self.key.allows(role):
            raise AccessDenied(f"this needs the role {role!r}, which key {self.key.id} lacks", known=True)

    def require_whole(self) -> None:
        """For what concerns all scopes: keys."""
        self.require("admin")
        if self.key is not None and "*" not in self.key.scopes:
            raise AccessDenied("this needs an admin key of all scopes", known=True)


@dataclass(frozen=True, kw_only=True)
class Keyring:
    """required: whether a request without key is refused even where no key was ever made."""

    keys: Keys
    clock: Clock
    required: bool = False

    def add(self, name: str, *, scopes: Sequence[str], roles: Sequence[str]) -> tuple[Key, str]:
        """The key, and what its holder sends. Raises InputError."""
        if not name.strip() or not scopes or not all(pattern.strip() for pattern in scopes):
            raise InputError("a key needs a name and at least one scope, such as acme/push, acme/* or *")
        if any("*" in pattern[:-1] for pattern in scopes):
            raise InputError("a scope of a key may end in *, and hold none elsewhere")
        wrong = [role for role in roles if role not in ROLES]
        if wrong or not roles:
            raise InputError(f"a key needs roles among {', '.join(ROLES)}" + (f", not {wrong[0]!r}" if wrong else ""))
        secret = secrets.token_urlsafe(32)
        key = Key(
            id=secrets.token_hex(6),
            name=name,
            scopes=tuple(scopes),
            roles=tuple(role for role in ROLES if role in roles),
            hash=_hash(secret),
            created_at=self.clock(),
        )
        self.keys.add(key)
        return key, f"{_PREFIX}_{key.id}_{secret}"

    def revoke(self, key_id: str) -> Key:
        key = self.keys.find(key_id)
        if key is None:
            raise NotFound(f"there is no key {key_id}: 'afterwit keys list' shows them")
        revoked = replace(key, revoked_at=key.revoked_at or self.clock())
        self.keys.change(revoked)
        return revoked

    def in_use(self) -> bool:
        return self.required or any(key.revoked_at is None for key in self.keys.all())

    def caller(self, token: str | None) -> Caller:
        """Raises AccessDenied for a missing, unknown or revoked key, not saying which."""
        if token is None:
            if self.in_use():
                raise AccessDenied("this needs a key: send it as 'Authorization: Bearer aw_…'")
            return Caller()
        prefix, _, rest = token.partition("_")
        key_id, _, secret = rest.partition("_")
        key = self.keys.find(key_id) if prefix == _PREFIX and key_id.isalnum() and key_id.isascii() else None
        right = hmac.compare_digest(_hash(secret), key.hash if key else _NOBODY)
        if key is None or not right or key.revoked_at is not None:
            raise AccessDenied("this key is not known or was revoked: ask for a new one")
        return Caller(key=key)


def _hash(secret: str) -> str:
    """One round: the secret is 256 random bits, so there is nothing to guess more slowly."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


_NOBODY = _hash("")
