"""Profiles of users: each version a row, never changed, and the interactions that went into them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select
from sqlalchemy.exc import IntegrityError

from afterwit.errors import Conflict
from afterwit.model import Profile
from afterwit.store.codec import to_json
from afterwit.store.ledger import lock_scope, require_scope
from afterwit.store.tables import chunks, folded, profiles


def save(connection: Connection, profile: Profile, interactions: Sequence[str]) -> None:
    lock_scope(connection, profile.scope, "erasing")
    of = {"scope": profile.scope, "user": profile.user}
    try:
        connection.execute(insert(profiles).values(profile_row(profile)))
        if interactions:
            connection.execute(insert(folded), [{**of, "interaction": id_} for id_ in interactions])
    except IntegrityError:
        raise Conflict(
            f"the profile of {profile.user!r} has moved past version {profile.version - 1}: read the history again"
        ) from None


def payloads(connection: Connection, scope: str, user: str, limit: int | None) -> Sequence[str]:
    """Newest first."""
    require_scope(connection, scope)
    query = select(profiles.c.payload).where(profiles.c.scope == scope, profiles.c.user == user)
    return connection.scalars(query.order_by(profiles.c.version.desc()).limit(limit)).all()


def users(connection: Connection, scope: str) -> Sequence[str]:
    require_scope(connection, scope)
    query = select(profiles.c.user).where(profiles.c.scope == scope)
    return connection.scalars(query.distinct().order_by(profiles.c.user)).all()


def unfolded(connection: Connection, scope: str, user: str, interactions: Sequence[str]) -> frozenset[str]:
    require_scope(connection, scope)
    query = select(folded.c.interaction).where(folded.c.scope == scope, folded.c.user == user)
    known = {
        id_
        for chunk in chunks(interactions)
        for id_ in connection.scalars(query.where(folded.c.interaction.in_(chunk)))
    }
    return frozenset(interactions) - known


def drop(connection: Connection, scope: str, user: str) -> int:
    """The count of versions that went."""
    here = (profiles.c.scope == scope) & (profiles.c.user == user)
    found = connection.scalar(select(func.count()).select_from(profiles).where(here)) or 0
    connection.execute(delete(profiles).where(here))
    connection.execute(delete(folded).where(folded.c.scope == scope, folded.c.user == user))
    return found


def profile_row(profile: Profile) -> dict[str, Any]:
    return {
        "scope": profile.scope,
        "user": profile.user,
        "version": profile.version,
        "payload": to_json(profile),
    }
