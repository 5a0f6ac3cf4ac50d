"""What a service keeps beside the ledger: API keys, and answers to requests that may come again."""

from datetime import datetime, timedelta

from sqlalchemy import bindparam, delete, insert, select, update

from afterwit.errors import NotFound
from afterwit.model import Answered, Key
from afterwit.store.codec import from_json, to_json
from afterwit.store.database import Database
from afterwit.store.ledger import lock_scope
from afterwit.store.tables import api_keys, micros, moment, put, replies

ABANDONED = timedelta(seconds=60)  # whoever began a request this long ago without finishing it has died


class SqlKeys:
    """`afterwit.ports.Keys` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, key: Key) -> None:
        with self._database.writing() as connection:
            connection.execute(insert(api_keys).values(id=key.id, payload=to_json(key)))

    def find(self, key_id: str) -> Key | None:
        found = self._database.one(_FIND, {"id": key_id})
        return from_json(Key, found[0]) if found else None

    def all(self) -> tuple[Key, ...]:
        with self._database.reading() as connection:
            payloads = connection.scalars(select(api_keys.c.payload).order_by(api_keys.c.id))
            return tuple(from_json(Key, payload) for payload in payloads)

    def change(self, key: Key) -> None:
        with self._database.writing() as connection:
            changed = update(api_keys).where(api_keys.c.id == key.id).values(payload=to_json(key))
            if not connection.execute(changed).rowcount:
                raise NotFound(f"there is no key {key.id}: 'afterwit keys list' shows them")


_FIND = select(api_keys.c.payload).where(api_keys.c.id == bindparam("id"))


class SqlReplies:
    """`afterwit.ports.Replies` on a database. Forgetting anything in a scope blanks what its requests were answered."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, scope: str, caller: str, key: str, fingerprint: str, at: datetime) -> Answered | None:
        row = {"scope": scope, "caller": caller, "key": key, "fingerprint": fingerprint, "at": micros(at)}
        with self._database.writing() as connection:
            lock_scope(connection, scope, "erasing")
            empty = {"status": None, "media": "", "payload": ""}
            if put(connection, replies, [{**row, **empty}]):
                return None
            here = (replies.c.scope == scope) & (replies.c.caller == caller) & (replies.c.key == key)
            kept = connection.execute(select(replies).where(here).with_for_update()).one()
            found = Answered(
                fingerprint=kept.fingerprint,
                at=moment(kept.at),
                status=kept.status,
                media=kept.media,
                body=kept.payload,
            )
            abandoned = found.status is None and at - found.at > ABANDONED
            if abandoned and found.fingerprint == fingerprint:
                connection.execute(update(replies).where(here).values(at=micros(at)))
                return None
            return found

    def finish(self, scope: str, caller: str, key: str, answer: Answered | None) -> None:
        here = (replies.c.scope == scope) & (replies.c.caller == caller) & (replies.c.key == key)
        with self._database.writing() as connection:
            if answer is None:
                connection.execute(delete(replies).where(here))
            else:
                values = {"status": answer.status, "media": answer.media, "payload": answer.body}
                connection.execute(update(replies).where(here).values(values))

    def expire(self, before: datetime) -> int:
        with self._database.writing() as connection:
            return connection.execute(delete(replies).where(replies.c.at < micros(before))).rowcount
