"""A memory: its ledger, its folder of event segments, its embedder."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from afterwit.errors import InputError, UnknownScope
from afterwit.ports import Clock, Embedder, EventLog, Store, system_clock
from afterwit.providers.embedder import SentenceEncoder
from afterwit.store.open import open_store
from afterwit.store.segments import Segments

IN_MEMORY = ":memory:"


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts:
    """close: gives everything back."""

    store: Store
    log: EventLog
    embedder: Embedder
    clock: Clock
    close: Callable[[], None]
    folder: Path


def open_parts(
    url: str | Path,
    *,
    scope: str,
    create: bool = True,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
) -> Parts:
    """Opens the ledger and, beside it, the folder of event segments (``memory.db`` → ``memory.db.events``).

    Raises UnknownScope where the scope does not exist and ``create`` is False, StoreError where the place cannot
    be written.
    """
    embedder = embedder or SentenceEncoder()
    if not create and str(url) != IN_MEMORY and not _path(url).exists():
        raise UnknownScope(f"there is no memory at {url}: make one with 'afterwit init'")
    store = open_store(url)
    try:
        if not create and scope not in store.scopes():
            known = ", ".join(store.scopes()) or "none"
            raise UnknownScope(f"there is no scope {scope!r} in {url} (known: {known}): make it with 'afterwit init'")
        store.open_scope(scope, embedder=embedder.name, dimensions=embedder.dimensions)
    except BaseException:
        store.close()
        raise
    if str(url) == IN_MEMORY:
        temporary = TemporaryDirectory(prefix="afterwit-")
        folder, cleanup = Path(temporary.name), temporary.cleanup
    else:
        folder, cleanup = _path(url).with_name(_path(url).name + ".events"), _nothing

    def close() -> None:
        store.close()
        cleanup()

    return Parts(
        store=store,
        log=Segments(folder),
        embedder=embedder,
        clock=clock or system_clock,
        close=close,
        folder=folder,
    )


def import_file(url: str | Path, path: Path) -> int:
    """Reads an export into a store; the number of lines. Raises InputError, naming file and line."""
    try:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    store = open_store(url)
    try:
        return store.import_lines(lines)
    finally:
        store.close()


def _path(url: str | Path) -> Path:
    return Path(str(url).removeprefix("sqlite:///"))


def _nothing() -> None:
    pass
