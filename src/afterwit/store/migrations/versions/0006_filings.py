"""Live cards are filed by what they say, and banks count themselves, so that an addition costs what it adds."""

import json

import sqlalchemy as sa
from alembic import op

from afterwit.model import Card
from afterwit.recall.filing import filed
from afterwit.store.codec import decode

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    for name in ("live_cards", "live_tokens"):
        op.add_column("banks", sa.Column(name, sa.Integer, nullable=False, server_default="0"))
    table = op.create_table(
        "filings",
        sa.Column("scope", sa.Text, sa.ForeignKey("scopes.name"), primary_key=True),
        sa.Column("bank", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("card_id", sa.Text, primary_key=True),
        sa.ForeignKeyConstraint(["scope", "card_id"], ["cards.scope", "cards.id"]),
    )
    op.create_index("filings_by_card", "filings", ["scope", "card_id"])
    connection = op.get_bind()
    rows = connection.execute(sa.text("SELECT scope, bank, id, payload FROM cards WHERE live")).all()
    found = [
        {"scope": scope, "bank": bank, "key": key, "card_id": id_}
        for scope, bank, id_, payload in rows
        for key in sorted(filed(decode(Card, json.loads(payload))))
    ]
    if found:
        op.bulk_insert(table, found)
    of_bank = "FROM cards WHERE cards.scope = banks.scope AND cards.bank = banks.name AND cards.live"
    connection.execute(
        sa.text(
            f"UPDATE banks SET live_cards = (SELECT count(*) {of_bank}), "
            f"live_tokens = (SELECT coalesce(sum(tokens), 0) {of_bank})"
        )
    )
