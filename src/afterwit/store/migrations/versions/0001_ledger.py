"""The ledger of release 0.1."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def _scope() -> sa.Column[str]:
    return sa.Column("scope", sa.Text, sa.ForeignKey("scopes.name"), primary_key=True)


def _id(name: str = "id") -> sa.Column[str]:
    return sa.Column(name, sa.Text, primary_key=True)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _integer(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False)


def _time(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False)


def upgrade() -> None:
    op.create_table("scopes", _id("name"), _text("embedder"), _integer("dimensions"))
    op.create_table("context_fields", _scope(), _id("name"))
    op.create_table("episodes", _scope(), _id(), _time("started_at"), _text("payload"))
    op.create_index("episodes_by_time", "episodes", ["scope", "started_at"])
    op.create_table(
        "recalls",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("scope", sa.Text, sa.ForeignKey("scopes.name"), nullable=False),
        _text("episode_id"),
        _time("at"),
        _text("payload"),
    )
    op.create_index("recalls_by_episode", "recalls", ["scope", "episode_id"])
    op.create_table(
        "deliveries", _scope(), _id(), _time("created_at"), sa.Column("episode_id", sa.Text), _text("payload")
    )
    op.create_index("deliveries_by_time", "deliveries", ["scope", "created_at"])
    op.create_index("deliveries_by_episode", "deliveries", ["scope", "episode_id"])
    op.create_table(
        "banks",
        _scope(),
        _id("name"),
        _integer("version"),
        _integer("capacity_cards"),
        _integer("capacity_tokens"),
    )
    op.create_table(
        "rounds",
        _scope(),
        _id(),
        _text("bank"),
        _integer("number"),
        _time("as_of"),
        _text("status"),
        sa.Column("version", sa.Integer),
        _text("payload"),
        sa.UniqueConstraint("scope", "number", name="rounds_in_order"),
        sa.UniqueConstraint("scope", "bank", "version", name="rounds_by_version"),
    )
    op.create_table(
        "edits",
        _scope(),
        _id(),
        _text("round_id"),
        _integer("position"),
        _text("payload"),
        sa.ForeignKeyConstraint(["scope", "round_id"], ["rounds.scope", "rounds.id"]),
        sa.UniqueConstraint("scope", "round_id", "position", name="edits_in_order"),
    )
    op.create_table(
        "edit_cards",
        _scope(),
        _id("card_id"),
        _id("edit_id"),
        sa.ForeignKeyConstraint(["scope", "edit_id"], ["edits.scope", "edits.id"]),
    )
    op.create_index("edit_cards_by_edit", "edit_cards", ["scope", "edit_id"])
    op.create_table(
        "cards",
        _scope(),
        _id(),
        _text("bank"),
        _integer("version"),
        sa.Column("live", sa.Boolean, nullable=False),
        _text("content_hash"),
        _integer("tokens"),
        _text("payload"),
    )
    op.create_index("cards_by_bank", "cards", ["scope", "bank", "live"])
    op.create_index(
        "live_cards_differ",
        "cards",
        ["scope", "bank", "content_hash"],
        unique=True,
        sqlite_where=sa.text("live"),
        postgresql_where=sa.text("live"),
    )
    op.create_table(
        "vectors",
        _scope(),
        _id("card_id"),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(["scope", "card_id"], ["cards.scope", "cards.id"]),
    )
    op.create_table("tombstones", _scope(), _id("kind"), _id(), _time("at"))
