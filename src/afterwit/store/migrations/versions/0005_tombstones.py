"""Tombstones keep a keyed hash of an id, not the id; so do the histories that name what was forgotten from now on."""

import hmac
import secrets

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    keys = op.create_table(
        "tombstone_keys",
        sa.Column("scope", sa.Text, sa.ForeignKey("scopes.name"), primary_key=True),
        sa.Column("key", sa.Text, nullable=False),
    )
    connection = op.get_bind()
    rows = connection.execute(sa.text("SELECT scope, kind, id FROM tombstones")).all()
    made = {scope: secrets.token_bytes(32) for scope in sorted({row.scope for row in rows})}
    if made:
        op.bulk_insert(keys, [{"scope": scope, "key": key.hex()} for scope, key in made.items()])
    change = sa.text("UPDATE tombstones SET id = :mark WHERE scope = :scope AND kind = :kind AND id = :id")
    for scope, kind, id_ in rows:
        mark = hmac.digest(made[scope], f"{kind}\0{id_}".encode(), "sha256").hex()
        connection.execute(change, {"mark": mark, "scope": scope, "kind": kind, "id": id_})
