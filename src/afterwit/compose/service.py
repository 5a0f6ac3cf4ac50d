"""What a service stands on: a place, its keys, its answers, and where jobs keep their state and their files."""

from dataclasses import dataclass
from pathlib import Path

from afterwit.compose.memory import IN_MEMORY, Parts, _split, open_place
from afterwit.errors import InputError
from afterwit.ports import Clock, Embedder, Keys, Replies
from afterwit.store.open import open_store
from afterwit.store.service import SqlKeys, SqlReplies
from afterwit.store.sql import SqlStore


@dataclass(frozen=True, kw_only=True, eq=False)
class ServiceParts:
    """jobs: URL of the database of jobs: the ledger's own server, or a file beside the ledger's. spool: folder of logs
    that wait to be read; None where events have no folder either."""

    place: Parts
    keys: Keys
    replies: Replies
    jobs: str
    spool: Path | None


def open_service(url: str | Path, *, embedder: Embedder | None = None, clock: Clock | None = None) -> ServiceParts:
    """Raises InputError for a store in memory: a service's jobs must outlive it."""
    if str(url) == IN_MEMORY:
        raise InputError("a service needs a store that outlives it: give a file or postgresql://…")
    place = open_place(url, embedder=embedder, clock=clock)
    assert isinstance(place.store, SqlStore)
    ledger, _ = _split(str(url))
    return ServiceParts(
        place=place,
        keys=SqlKeys(place.store.database),
        replies=SqlReplies(place.store.database),
        jobs=ledger if "://" in ledger else f"sqlite:///{Path(ledger).absolute()}.jobs",
        spool=place.folder.with_suffix(".spool") if place.folder else None,
    )


def open_keys(url: str | Path) -> tuple[Keys, "SqlStore"]:
    """The keys of a ledger, and the store to close."""
    store = open_store(_split(str(url))[0])
    return SqlKeys(store.database), store
