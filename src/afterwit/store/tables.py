"""The ledger's tables, once for every dialect.

A row is its key, the columns that a query filters or orders by, and ``payload``: the whole value as canonical JSON.
Times in columns are integer microseconds since 1970 in UTC. Every key begins with the scope, so no query can reach
another tenant's rows through an id alone.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite

metadata = MetaData()


def _scope() -> Column[str]:
    return Column("scope", Text, ForeignKey("scopes.name"), primary_key=True)


scopes = Table(
    "scopes",
    metadata,
    Column("name", Text, primary_key=True),
    Column("embedder", Text, nullable=False),
    Column("dimensions", Integer, nullable=False),
)

context_fields = Table("context_fields", metadata, _scope(), Column("name", Text, primary_key=True))

episodes = Table(
    "episodes",
    metadata,
    _scope(),
    Column("id", Text, primary_key=True),
    Column("started_at", BigInteger, nullable=False),
    Column("payload", Text, nullable=False),
    Index("episodes_by_time", "scope", "started_at"),
)

recalls = Table(
    "recalls",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("scope", Text, ForeignKey("scopes.name"), nullable=False),
    Column("episode_id", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("payload", Text, nullable=False),
    Index("recalls_by_episode", "scope", "episode_id"),
)

deliveries = Table(
    "deliveries",
    metadata,
    _scope(),
    Column("id", Text, primary_key=True),
    Column("created_at", BigInteger, nullable=False),
    Column("episode_id", Text),
    Column("payload", Text, nullable=False),
    Index("deliveries_by_time", "scope", "created_at"),
    Index("deliveries_by_episode", "scope", "episode_id"),
)

banks = Table(
    "banks",
    metadata,
    _scope(),
    Column("name", Text, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("capacity_cards", Integer, nullable=False),
    Column("capacity_tokens", Integer, nullable=False),
    Column("live_cards", Integer, nullable=False, server_default="0"),
    Column("live_tokens", Integer, nullable=False, server_default="0"),
)

# What each bank is run with: every change a row, never changed; the newest holds.
settings = Table(
    "settings",
    metadata,
    _scope(),
    Column("bank", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("payload", Text, nullable=False),
)

# number: order of arrival. version: of the bank once applied, so it also orders the fold. payload: without edits.
rounds = Table(
    "rounds",
    metadata,
    _scope(),
    Column("id", Text, primary_key=True),
    Column("bank", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("as_of", BigInteger, nullable=False),
    Column("status", Text, nullable=False),
    Column("version", Integer),
    Column("payload", Text, nullable=False),
    UniqueConstraint("scope", "number", name="rounds_in_order"),
    UniqueConstraint("scope", "bank", "version", name="rounds_by_version"),
)

edits = Table(
    "edits",
    metadata,
    _scope(),
    Column("id", Text, primary_key=True),
    Column("round_id", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("payload", Text, nullable=False),
    ForeignKeyConstraint(["scope", "round_id"], ["rounds.scope", "rounds.id"]),
    UniqueConstraint("scope", "round_id", "position", name="edits_in_order"),
)

# Which cards an edit wrote or had as parents.
edit_cards = Table(
    "edit_cards",
    metadata,
    _scope(),
    Column("card_id", Text, primary_key=True),
    Column("edit_id", Text, primary_key=True),
    ForeignKeyConstraint(["scope", "edit_id"], ["edits.scope", "edits.id"]),
    Index("edit_cards_by_edit", "scope", "edit_id"),
)

# The fold of the applied edits: the latest version of every card, retired ones included.
cards = Table(
    "cards",
    metadata,
    _scope(),
    Column("id", Text, primary_key=True),
    Column("bank", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("live", Boolean, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("payload", Text, nullable=False),
    Index("cards_by_bank", "scope", "bank", "live"),
)
Index(
    "live_cards_differ",
    cards.c.scope,
    cards.c.bank,
    cards.c.content_hash,
    unique=True,
    sqlite_where=text("live"),
    postgresql_where=text("live"),
)

# Keys under which live cards are found (`afterwit.recall.filing`): what one says, how it is quoted, what it is about.
filings = Table(
    "filings",
    metadata,
    _scope(),
    Column("bank", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("card_id", Text, primary_key=True),
    ForeignKeyConstraint(["scope", "card_id"], ["cards.scope", "cards.id"]),
    Index("filings_by_card", "scope", "card_id"),
)

# Embeddings of the keys of live cards: little-endian float32.
vectors = Table(
    "vectors",
    metadata,
    _scope(),
    Column("card_id", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    ForeignKeyConstraint(["scope", "card_id"], ["cards.scope", "cards.id"]),
)

# What is remembered of users: every version, never changed, and which interactions went into them.
profiles = Table(
    "profiles",
    metadata,
    _scope(),
    Column("user", Text, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("payload", Text, nullable=False),
)

folded = Table(
    "folded",
    metadata,
    _scope(),
    Column("user", Text, primary_key=True),
    Column("interaction", Text, primary_key=True),
)

tombstones = Table(
    "tombstones",
    metadata,
    _scope(),
    Column("kind", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("at", BigInteger, nullable=False),
)

# Of the service: whose keys open it, and what requests that may come again were answered. payload of a key: with the
# hash of its secret. status: empty while the request is being worked on.
api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("payload", Text, nullable=False),
)

replies = Table(
    "replies",
    metadata,
    _scope(),
    Column("caller", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("status", Integer),
    Column("media", Text, nullable=False),
    Column("payload", Text, nullable=False),
    Index("replies_by_time", "at"),
)

# The id is a keyed hash (`afterwit.store.tombstones`), never an id as given.
tombstone_keys = Table("tombstone_keys", metadata, _scope(), Column("key", Text, nullable=False))

_CHUNK = 500  # ids in one query; SQLite takes at most 32,766 parameters, PostgreSQL plans long lists slowly
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(at: datetime) -> int:
    """Microseconds since 1970, exactly (a float timestamp would round)."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def moment(at: int) -> datetime:
    return _EPOCH + timedelta(microseconds=at)


def chunks(ids: Sequence[str]) -> Iterable[Sequence[str]]:
    return (ids[start : start + _CHUNK] for start in range(0, len(ids), _CHUNK))


def put(connection: Connection, table: Table, rows: Sequence[dict[str, Any]], *, replace: bool = False) -> int:
    """Inserts rows; one whose primary key is there already is left, or replaced. The count of rows written."""
    if not rows:
        return 0
    insert = (sqlite if connection.dialect.name == "sqlite" else postgresql).insert(table)
    key = [column.name for column in table.primary_key]
    others = {name: insert.excluded[name] for name in rows[0] if name not in key}
    statement = (
        insert.on_conflict_do_update(index_elements=key, set_=others)
        if replace
        else insert.on_conflict_do_nothing(index_elements=key)
    )
    return connection.execute(statement, rows, execution_options={"preserve_rowcount": True}).rowcount
