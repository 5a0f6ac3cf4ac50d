"""Cards and rounds by hand for the tests of the store."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from afterwit.model import Card, Edit, Provenance, Round
from afterwit.ports import Capacity, HashEmbedder, Store

NOON = datetime(2014, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
ROOMY = Capacity(cards=100, tokens=10_000)
embed = HashEmbedder()


def card(id_: str, guidance: str | None = None, *, scope: str = "acme/push", **changes: object) -> Card:
    given = {
        "key": "write a push",
        "guidance": guidance or f"guidance of {id_}",
        "provenance": Provenance(operator="admit"),
        "created_at": NOON,
        "valid_from": NOON,
        **changes,
    }
    return Card(id=id_, scope=scope, **given)  # type: ignore[arg-type]


def retired(card_: Card) -> Card:
    return card_.changed(status="retired")


def edit(id_: str, operator: str, *writes: Card, parents: tuple[str, ...] = (), reason: str = "") -> Edit:
    return Edit(id=id_, operator=operator, writes=writes, parents=parents, reason=reason)  # type: ignore[arg-type]


def round_(id_: str, base: int, *edits: Edit, scope: str = "acme/push", **changes: object) -> Round:
    given = {"bank": "content", "as_of": NOON, **changes}
    return Round(id=id_, scope=scope, base_version=base, edits=edits, **given)  # type: ignore[arg-type]


def vectors_of(round_: Round) -> dict[str, NDArray[np.float32]]:
    live = [card for edit in round_.edits for card in edit.writes if card.live]
    return dict(zip([c.id for c in live], embed([c.key for c in live]), strict=True)) if live else {}


def commit(store: Store, committed: Round, capacity: Capacity = ROOMY) -> int:
    return store.commit(committed, capacity=capacity, vectors=vectors_of(committed))


def opened(store: Store, *scopes: str) -> Store:
    for scope in scopes or ("acme/push",):
        store.open_scope(scope, embedder=embed.name, dimensions=embed.dimensions)
    return store


def aged(path: Path, revision: str) -> sqlite3.Connection:
    """A ledger without what later releases added, at the number of an older one; to be committed and closed."""
    database = sqlite3.connect(path)
    for since, statement in (
        ("0003", "DROP TABLE settings"),
        ("0004", "DROP TABLE api_keys"),
        ("0004", "DROP TABLE replies"),
        ("0005", "DROP TABLE tombstone_keys"),
        ("0006", "DROP TABLE filings"),
        ("0006", "ALTER TABLE banks DROP COLUMN live_cards"),
        ("0006", "ALTER TABLE banks DROP COLUMN live_tokens"),
    ):
        if revision < since:
            database.execute(statement)
    database.execute("UPDATE alembic_version SET version_num = ?", (revision,))
    return database


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
