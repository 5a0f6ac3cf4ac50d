"""Settings of banks; a bank of an older release keeps the capacity that it was last committed with."""

import json
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_OF_STAGES = ("planning", "execution")  # theirs was never the caller's to give


def upgrade() -> None:
    table = op.create_table(
        "settings",
        sa.Column("scope", sa.Text, sa.ForeignKey("scopes.name"), primary_key=True),
        sa.Column("bank", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("payload", sa.Text, nullable=False),
    )
    at = datetime.now(UTC).isoformat()
    banks = op.get_bind().execute(sa.text("SELECT scope, name, capacity_cards FROM banks")).all()
    rows = [
        {"scope": scope, "bank": bank, "number": 1, "payload": json.dumps(_change(bank, at, cards), sort_keys=True)}
        for scope, bank, cards in banks
        if bank not in _OF_STAGES
    ]
    if rows:
        op.bulk_insert(table, rows)


def _change(bank: str, at: str, cards: int) -> dict[str, object]:
    return {"bank": bank, "at": at, "settings": {"capacity": cards}, "reason": "kept from before settings were"}
