"""Where memories lie, and one of them: the ledger, the folder of event segments, the embedder."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

from afterwit.errors import InputError, UnknownScope
from afterwit.ports import Clock, Embedder, EventLog, Store, system_clock
from afterwit.providers.embedder import SentenceEncoder
from afterwit.store.open import open_store
from afterwit.store.segments import Segments

IN_MEMORY = ":memory:"


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts:
    """folder: of event segments; None where a server's URL names none. close: gives everything back."""

    store: Store
    log: EventLog
    embedder: Embedder
    clock: Clock
    close: Callable[[], None]
    folder: Path | None


def open_place(
    url: str | Path, *, create: bool = True, embedder: Embedder | None = None, clock: Clock | None = None
) -> Parts:
    """Opens the ledger and, beside it, the folder of event segments: ``memory.db`` → ``memory.db.events``. Beside
    ``postgresql://…`` it is what ``?events=FOLDER`` or ``AFTERWIT_EVENTS`` names; without either, delivery logs
    cannot be ingested, and all else works.

    Raises UnknownScope for a file that is not there and ``create`` is False, StoreError where the place cannot be
    written.
    """
    ledger, folder = _split(str(url))
    if not create and ledger != IN_MEMORY and "://" not in ledger and not Path(ledger).exists():
        raise UnknownScope(f"there is no memory at {url}: make one with 'afterwit init'")
    store = open_store(ledger)
    cleanup = store.close
    if ledger == IN_MEMORY:
        temporary = TemporaryDirectory(prefix="afterwit-")
        folder = Path(temporary.name)

        def cleanup() -> None:
            store.close()
            temporary.cleanup()

    return Parts(
        store=store,
        log=Segments(folder) if folder else NoEvents(),
        embedder=embedder or SentenceEncoder(),
        clock=clock or system_clock,
        close=cleanup,
        folder=folder,
    )


def open_parts(
    url: str | Path | Parts,
    *,
    scope: str,
    create: bool = True,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
) -> Parts:
    """The parts of one scope's memory. url: or a place that is open already, which stays open when this is closed.

    Raises UnknownScope where the scope does not exist and ``create`` is False.
    """
    if isinstance(url, Parts):
        place = replace(url, close=_nothing)
    else:
        place = open_place(url, create=create, embedder=embedder, clock=clock)
    try:
        if not create and scope not in place.store.scopes():
            known = "" if isinstance(url, Parts) else f" (known: {', '.join(place.store.scopes()) or 'none'})"
            raise UnknownScope(f"there is no scope {scope!r} in this store{known}: make it with 'afterwit init'")
        place.store.open_scope(scope, embedder=place.embedder.name, dimensions=place.embedder.dimensions)
    except BaseException:
        place.close()
        raise
    return place


def import_file(url: str | Path, path: Path) -> int:
    """Reads an export into a store; the number of lines. Raises InputError, naming file and line."""
    try:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    store = open_store(_split(str(url))[0])
    try:
        return store.import_lines(lines)
    finally:
        store.close()


class NoEvents:
    """An `EventLog` that has no place."""

    def append(self, scope: str, events: Any) -> tuple[int, int]:
        raise InputError(_NO_FOLDER)

    def table(self, scope: str) -> Any:
        raise InputError(_NO_FOLDER)

    def forget(self, scope: str, delivery_ids: object = None) -> int:
        return 0


_NO_FOLDER = "delivery events have no folder beside this server: add ?events=FOLDER to its URL or set AFTERWIT_EVENTS"


def _split(url: str) -> tuple[str, Path | None]:
    """The ledger's own URL, and the folder of its events where it has one."""
    ledger = url.removeprefix("sqlite:///")
    if "://" not in ledger:
        return ledger, None if ledger == IN_MEMORY else Path(ledger + ".events")
    base, _, query = ledger.partition("?")
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    named = [unquote(value) for name, _, value in pairs if name == "events"]
    rest = "&".join("".join(pair) for pair in pairs if pair[0] != "events")
    folder = named[0] if named else os.environ.get("AFTERWIT_EVENTS")
    return base + (f"?{rest}" if rest else ""), Path(folder) if folder else None


def _nothing() -> None:
    pass
