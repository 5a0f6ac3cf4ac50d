"""`Store` on a database: each method is one short transaction around the functions of this room."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select, update

from afterwit.errors import Conflict
from afterwit.model import Bank, Card, Delivery, Edit, Episode, Profile, Recalled, Round, SettingsChange
from afterwit.ports import Capacity, Forgotten
from afterwit.store import bank as _bank
from afterwit.store import erase, exchange, filing, ledger, soundness, tombstones
from afterwit.store import profiles as _profiles
from afterwit.store import rounds as _rounds
from afterwit.store import settings as _settings
from afterwit.store.codec import from_json
from afterwit.store.database import Database
from afterwit.store.migrate import migrate
from afterwit.store.tables import replies, rounds, scopes

Embeddings = Mapping[str, NDArray[np.float32]]


class SqlStore:
    """The ledger; see `afterwit.ports.Store` for what each method promises.

    Live banks and their vectors are kept decoded until the bank's version moves, in this process or another.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._banks: dict[tuple[str, str], Bank] = {}
        self._vectors: dict[tuple[str, str], tuple[int, _bank.Vectors]] = {}
        migrate(database)

    # Scopes

    def open_scope(self, scope: str, *, embedder: str, dimensions: int) -> None:
        with self.database.writing() as connection:
            ledger.open_scope(connection, scope, embedder, dimensions)

    def scopes(self) -> tuple[str, ...]:
        with self.database.reading() as connection:
            return tuple(connection.scalars(select(scopes.c.name).order_by(scopes.c.name)))

    def fields(self, scope: str) -> frozenset[str]:
        with self.database.reading() as connection:
            return ledger.fields(connection, scope)

    def change_settings(self, scope: str, change: SettingsChange) -> bool:
        with self.database.writing() as connection:
            return _settings.change(connection, scope, change)

    def settings(self, scope: str, *, bank: str | None = None) -> tuple[SettingsChange, ...]:
        with self.database.reading() as connection:
            return _settings.changes(connection, scope, bank)

    # What was done and shown

    def save_episode(self, episode: Episode, *, deliveries: Sequence[Delivery] = ()) -> None:
        with self.database.writing() as connection:
            ledger.save_episode(connection, episode)
            ledger.save_deliveries(connection, deliveries)

    def episodes(
        self,
        scope: str,
        *,
        ids: Sequence[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Iterator[Episode]:
        with self.database.reading() as connection:
            payloads = ledger.episode_payloads(connection, scope, ids, since, until)
        return (from_json(Episode, payload) for payload in payloads)

    def latest(self, scope: str, *, limit: int, before: str | None = None) -> tuple[Episode, ...]:
        with self.database.reading() as connection:
            payloads = ledger.latest_payloads(connection, scope, limit, before)
        return tuple(from_json(Episode, payload) for payload in payloads)

    def save_deliveries(self, deliveries: Iterable[Delivery]) -> int:
        batch = tuple(deliveries)  # read before the write lock is held: the caller may parse a file meanwhile
        with self.database.writing() as connection:
            return ledger.save_deliveries(connection, batch)

    def deliveries(self, scope: str, *, until: datetime | None = None) -> Iterator[Delivery]:
        with self.database.reading() as connection:
            payloads = ledger.delivery_payloads(connection, scope, until)
        return (from_json(Delivery, payload) for payload in payloads)

    def record_recall(self, scope: str, episode_id: str, recalled: Sequence[Recalled], at: datetime) -> None:
        ledger.record_recall(self.database, scope, episode_id, recalled, at)

    # The bank

    def bank(self, scope: str, name: str, *, as_of: datetime | None = None) -> Bank:
        with self.database.reading() as connection:
            if as_of is not None:
                return _bank.past_bank(connection, scope, name, as_of=as_of)
            version = _bank.bank_version(connection, scope, name)
            kept = self._banks.get((scope, name))
            if kept is None or kept.version != version:
                kept = self._banks[scope, name] = _bank.live_bank(connection, scope, name, version)
            return kept

    def bank_version(self, scope: str, name: str) -> int:
        """0 for a bank that nothing was committed to."""
        return _bank.version_in(self.database.one(_bank.VERSION, {"scope": scope, "bank": name}), scope)

    def bank_at(self, scope: str, name: str, version: int) -> Bank:
        """The bank as it was at one of its versions."""
        with self.database.reading() as connection:
            return _bank.past_bank(connection, scope, name, version=version)

    def vectors(self, scope: str, name: str) -> tuple[tuple[str, ...], NDArray[np.float32]]:
        with self.database.reading() as connection:
            version = _bank.bank_version(connection, scope, name)
            kept = self._vectors.get((scope, name))
            if kept is None or kept[0] != version:
                found = _bank.live_vectors(connection, scope, name)
                found[1].flags.writeable = False  # shared by every caller
                kept = self._vectors[scope, name] = (version, found)
            return kept[1]

    def filed(self, scope: str, name: str, keys: Iterable[str]) -> Mapping[str, tuple[Card, ...]]:
        with self.database.reading() as connection:
            return filing.found(connection, scope, name, keys)

    def commit(self, round_: Round, *, capacity: Capacity, vectors: Embeddings) -> int:
        with self.database.writing() as connection:
            ledger.lock_scope(connection, round_.scope, "rounds")
            version = _bank.bank_version(connection, round_.scope, round_.bank)
            known = select(rounds.c.id).where(rounds.c.scope == round_.scope, rounds.c.id == round_.id)
            if connection.execute(known).first() is not None:
                return version
            if round_.status != "applied":
                _rounds.insert_round(connection, round_)
                return version
            applied, version = _rounds.apply_round(connection, round_, capacity, vectors)
            _rounds.insert_round(connection, applied, version=version)
            return version

    def decide_round(
        self, scope: str, round_id: str, *, approve: bool, capacity: Capacity, vectors: Embeddings
    ) -> None:
        with self.database.writing() as connection:
            ledger.lock_scope(connection, scope, "rounds")
            round_ = _bank.read_round(connection, scope, round_id)
            if round_.status == ("applied" if approve else "rejected"):
                return
            if round_.status != "proposed":
                raise Conflict(f"round {round_id} is {round_.status} already: nothing is left to decide")
            if approve:
                applied, version = _rounds.apply_round(connection, round_, capacity, vectors)
                _rounds.decide_round(connection, applied, version=version)
            else:
                _rounds.decide_round(connection, replace(round_, status="rejected"), version=None)

    def rounds(
        self, scope: str, *, bank: str | None = None, limit: int | None = None, before: str | None = None
    ) -> tuple[Round, ...]:
        with self.database.reading() as connection:
            return _bank.read_rounds(connection, scope, bank, limit, before)

    def round(self, scope: str, round_id: str) -> Round:
        with self.database.reading() as connection:
            return _bank.read_round(connection, scope, round_id)

    def edits(
        self, scope: str, *, bank: str | None = None, card_id: str | None = None, applied: bool = True
    ) -> tuple[Edit, ...]:
        with self.database.reading() as connection:
            payloads = _bank.edit_payloads(connection, scope, bank, card_id, applied)
        return tuple(from_json(Edit, payload) for payload in payloads)

    # Erasing, moving, checking

    # Profiles

    def save_profile(self, profile: Profile, *, interactions: Sequence[str] = ()) -> None:
        with self.database.writing() as connection:
            _profiles.save(connection, profile, interactions)

    def profiles(self, scope: str, user: str, *, limit: int | None = None) -> tuple[Profile, ...]:
        with self.database.reading() as connection:
            return tuple(from_json(Profile, text) for text in _profiles.payloads(connection, scope, user, limit))

    def unfolded(self, scope: str, user: str, interactions: Sequence[str]) -> frozenset[str]:
        with self.database.reading() as connection:
            return _profiles.unfolded(connection, scope, user, interactions)

    def users(self, scope: str) -> tuple[str, ...]:
        with self.database.reading() as connection:
            return tuple(_profiles.users(connection, scope))

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
        with self.database.writing() as connection:
            done = erase.forget(
                connection,
                scope,
                card_id=card_id,
                episode_id=episode_id,
                delivery_id=delivery_id,
                user=user,
                everything=everything,
            )
            blanked = update(replies).where(replies.c.scope == scope).values(status=410, media="", payload="")
            connection.execute(blanked)
        self._banks.clear()
        self._vectors.clear()
        self.database.scrub()
        return done

    def forgotten(self, scope: str, kind: str, ids: Iterable[str]) -> frozenset[str]:
        with self.database.reading() as connection:
            ledger.require_scope(connection, scope)
            return tombstones.forgotten(connection, scope, kind, ids)

    def export(self, scope: str) -> Iterator[str]:
        with self.database.reading() as connection:
            return iter(exchange.export(connection, scope))

    def import_lines(self, lines: Iterable[str]) -> int:
        read = tuple(lines)
        with self.database.writing() as connection:
            return exchange.import_lines(connection, read)

    def check(self, scope: str) -> tuple[str, ...]:
        with self.database.reading() as connection:
            found = tuple(soundness.problems(connection, scope))
        return (*found, *self.database.integrity())

    def close(self) -> None:
        self.database.close()
