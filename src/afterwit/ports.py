"""What the core asks of the world, as small protocols; ``compose.py`` binds them.

Every port has a double: `afterwit.store.in_memory` for `Store`, `HashEmbedder`, `FixedClock` and `ScriptedChat` here.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from afterwit.model import (
    Answered,
    Ask,
    Attribution,
    Bank,
    Card,
    Delivery,
    Draft,
    Edit,
    Episode,
    Key,
    Profile,
    Recalled,
    Reply,
    Round,
    SettingsChange,
    Task,
    content_hash,
    normalised,
)


class Clock(Protocol):
    def __call__(self) -> datetime:
        """Now, in UTC."""


class Embedder(Protocol):
    """name: of the model; banks refuse vectors of another. dimensions: of one vector."""

    name: str
    dimensions: int

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimensions)."""


class Generator(Protocol):
    """A frozen generator: the same task, cards and seed give the same draft."""

    def __call__(self, task: Task, cards: Sequence[Card], *, seed: int = 0) -> Draft: ...


class Chat(Protocol):
    """A language model. name: changes with the model and its settings, so that what is cached by it stays true."""

    @property
    def name(self) -> str: ...

    def __call__(self, ask: Ask) -> Reply:
        """Raises ProviderError or BudgetSpent. May be called from several threads at once."""


class Gate(Protocol):
    """Attributes an episode's outcome to a stage, from what was recorded alone: no reference answers."""

    @property
    def name(self) -> str: ...

    def __call__(self, episode: Episode, cards: Sequence[Card]) -> Attribution:
        """cards: those that the episode recalled, in the very versions. Raises ModelError."""


@dataclass(frozen=True, kw_only=True)
class Forgotten:
    """What ``forget`` erased, counted per kind. tombstones: what got one, as ``kind:id``; the ledger keeps of them a
    keyed hash alone."""

    cards: int = 0
    episodes: int = 0
    deliveries: int = 0
    rounds: int = 0
    profiles: int = 0
    tombstones: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """B of a bank: live cards and their tokens (design law 5)."""

    cards: int = 80
    tokens: int = 80 * 60


class Store(Protocol):
    """The ledger: append-only but for ``forget``; every method is one short transaction.

    Each takes the scope as its first argument and filters by it in the query. Unknown scopes raise
    UnknownScope, except in ``open_scope``. Database failures raise StoreError.
    """

    def open_scope(self, scope: str, *, embedder: str, dimensions: int) -> None:
        """Creates the scope, or checks that its cards were embedded by this embedder (EmbedderMismatch)."""

    def scopes(self) -> tuple[str, ...]: ...

    def fields(self, scope: str) -> frozenset[str]:
        """Context fields seen in this scope's episodes and deliveries."""

    def change_settings(self, scope: str, change: SettingsChange) -> bool:
        """Keeps what a bank is run with from now on; False where that is what is kept already."""

    def settings(self, scope: str, *, bank: str | None = None) -> tuple[SettingsChange, ...]:
        """Every change, newest first, bank by bank; nothing for a bank that was never given any."""

    def save_episode(self, episode: Episode, *, deliveries: Sequence[Delivery] = ()) -> None:
        """Inserts or, for the same id, replaces while the episode is open; closed ones raise Conflict. deliveries:
        that it made, saved with it."""

    def episodes(
        self,
        scope: str,
        *,
        ids: Sequence[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Iterator[Episode]:
        """By start time, oldest first."""

    def latest(self, scope: str, *, limit: int, before: str | None = None) -> tuple[Episode, ...]:
        """Episodes, newest first; ``before`` names the last one already seen. Raises NotFound."""

    def save_deliveries(self, deliveries: Iterable[Delivery]) -> int:
        """Idempotent by (scope, id); the count of new ones. The same id with other content raises Conflict."""

    def deliveries(self, scope: str, *, until: datetime | None = None) -> Iterator[Delivery]: ...

    def bank(self, scope: str, name: str, *, as_of: datetime | None = None) -> Bank:
        """The live cards; with ``as_of`` those after the last round or edit made by then."""

    def bank_version(self, scope: str, name: str) -> int:
        """0 for a bank that nothing was committed to; the cheapest way to see whether a bank has moved."""

    def bank_at(self, scope: str, name: str, version: int) -> Bank:
        """The live cards as they were at one of the bank's versions."""

    def filed(self, scope: str, name: str, keys: Iterable[str]) -> Mapping[str, tuple[Card, ...]]:
        """Live cards by the keys that they are filed under (`afterwit.recall.filing`), without reading the others; keys
        that file none are left out."""

    def vectors(self, scope: str, name: str) -> tuple[tuple[str, ...], NDArray[np.float32]]:
        """Card ids of the live bank and the embeddings of their keys, row by row."""

    def commit(self, round_: Round, *, capacity: Capacity, vectors: dict[str, NDArray[np.float32]]) -> int:
        """Applies a round atomically, or records it if it is only proposed; the new bank version.

        Raises Conflict if the bank is no longer at ``round_.base_version``, and CapacityExceeded if the live bank would
        be above the capacity and larger than it was; both leave everything as it was. The same round id again is a
        no-op.
        vectors: card id → embedding of its key, for every card written that is live.
        """

    def decide_round(
        self,
        scope: str,
        round_id: str,
        *,
        approve: bool,
        capacity: Capacity,
        vectors: dict[str, NDArray[np.float32]],
    ) -> None:
        """Applies or rejects a proposed round."""

    def rounds(
        self, scope: str, *, bank: str | None = None, limit: int | None = None, before: str | None = None
    ) -> tuple[Round, ...]:
        """Newest first; ``before`` names the last one already seen. Raises NotFound for it."""

    def round(self, scope: str, round_id: str) -> Round: ...

    def edits(
        self, scope: str, *, bank: str | None = None, card_id: str | None = None, applied: bool = True
    ) -> tuple[Edit, ...]:
        """Applied edits in order, bank by bank; for a card those that wrote it or had it as a parent. With
        ``applied=False`` also those of proposed and rejected rounds."""

    def record_recall(self, scope: str, episode_id: str, recalled: Sequence[Recalled], at: datetime) -> None:
        """One indexed write."""

    def forget(
        self,
        scope: str,
        *,
        card_id: str | None = None,
        episode_id: str | None = None,
        delivery_id: str | None = None,
        user: str | None = None,
        everything: bool = False,
    ) -> Forgotten:
        """Erases text from every table, index and free page; exactly one target must be named."""

    def forgotten(self, scope: str, kind: str, ids: Iterable[str]) -> frozenset[str]:
        """Those of the ids that have a tombstone; they are not looked at where nothing of the kind was forgotten.
        kind: ``card``, ``episode``, ``delivery`` or ``user``."""

    def save_profile(self, profile: Profile, *, interactions: Sequence[str] = ()) -> None:
        """A new version and the identities of the interactions that it folded, both or neither. Raises Conflict where
        the version or an interaction is there already."""

    def unfolded(self, scope: str, user: str, interactions: Sequence[str]) -> frozenset[str]:
        """Those of the identities that no version has folded."""

    def profiles(self, scope: str, user: str, *, limit: int | None = None) -> tuple[Profile, ...]:
        """Versions of a user's profile, newest first."""

    def users(self, scope: str) -> tuple[str, ...]:
        """Who has a profile."""

    def export(self, scope: str) -> Iterator[str]:
        """JSON Lines; ``import_lines`` of them into an empty store exports the same bytes."""

    def import_lines(self, lines: Iterable[str]) -> int: ...

    def check(self, scope: str) -> tuple[str, ...]:
        """Problems found: bank table against the fold of edits, capacity, integrity; empty when sound."""

    def close(self) -> None: ...


class Keys(Protocol):
    """API keys of a service, hashed, in the ledger's database."""

    def add(self, key: Key) -> None: ...

    def find(self, key_id: str) -> Key | None: ...

    def all(self) -> tuple[Key, ...]:
        """Revoked ones too, oldest first."""

    def change(self, key: Key) -> None:
        """Raises NotFound."""


class Replies(Protocol):
    """What requests with an idempotency key were answered, per scope and caller."""

    def begin(self, scope: str, caller: str, key: str, fingerprint: str, at: datetime) -> Answered | None:
        """None where the request is new, or whoever began it has died: it is the caller's to work on now."""

    def finish(self, scope: str, caller: str, key: str, answer: Answered | None) -> None:
        """None: the request failed and may be tried again."""

    def expire(self, before: datetime) -> int: ...


class EventLog(Protocol):
    """Raw delivery events beside the ledger.

    Columns of the table: event_id str, delivery_id str, kind str (impression, click, conversion, negative or
    the user's own), at timestamp[us, UTC] (when it happened; of an aggregate, when its window began),
    available_at timestamp[us, UTC] (when it could be known), count int64, user_id str or null,
    aggregate bool, final bool.
    """

    def append(self, scope: str, events: Any) -> tuple[int, int]:
        """events: a pyarrow Table with those columns; (new, already known). A known id with other content
        raises Conflict. All or nothing."""

    def table(self, scope: str) -> Any:
        """A lazy ibis table over the scope's events."""

    def forget(self, scope: str, delivery_ids: Sequence[str] | None = None) -> int:
        """Removes the events of these deliveries (all where None) from every segment; the count removed."""


Progress = Callable[[int, int | None], None]
"""Called with (done, total or None) while something long runs."""


def system_clock() -> datetime:
    return datetime.now(UTC)


class FixedClock:
    """A double of Clock: tells the time it was last given."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


class HashEmbedder:
    """A double of Embedder: hashed words, unit length; near texts share words, nothing more."""

    name = "hash-64"
    dimensions = 64

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[0] = 1e-3
            for word in normalised(text).split():
                row[int(content_hash(word)[:8], 16) % self.dimensions] += 1
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows


class ScriptedChat:
    """A double of Chat: gives its replies in turn and raises those that are errors; ``asked`` keeps what it was asked.

    A reply may be plain text. When they run out, the last one is given again.
    """

    def __init__(self, *replies: str | Reply | Exception, name: str = "scripted") -> None:
        self.name = name
        self.asked: list[Ask] = []
        self._replies = replies
        self._lock = threading.Lock()

    def __call__(self, ask: Ask) -> Reply:
        with self._lock:
            reply = self._replies[min(len(self.asked), len(self._replies) - 1)]
            self.asked.append(ask)
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, Reply) else Reply(text=reply, input_tokens=1, output_tokens=1)
