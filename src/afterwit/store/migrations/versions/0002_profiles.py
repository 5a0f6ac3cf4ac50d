"""Profiles of users."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "profiles",
        sa.Column("scope", sa.Text, sa.ForeignKey("scopes.name"), primary_key=True),
        sa.Column("user", sa.Text, primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("payload", sa.Text, nullable=False),
    )
    op.create_table(
        "folded",
        sa.Column("scope", sa.Text, sa.ForeignKey("scopes.name"), primary_key=True),
        sa.Column("user", sa.Text, primary_key=True),
        sa.Column("interaction", sa.Text, primary_key=True),
    )
