"""Keys of the service, and answers to requests that may come again."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def upgrade() -> None:
    op.create_table("api_keys", sa.Column("id", sa.Text, primary_key=True), _text("payload"))
    op.create_table(
        "replies",
        sa.Column("scope", sa.Text, sa.ForeignKey("scopes.name"), primary_key=True),
        sa.Column("caller", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        _text("fingerprint"),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("status", sa.Integer),
        _text("media"),
        _text("payload"),
    )
    op.create_index("replies_by_time", "replies", ["at"])
