"""Settings of banks: every change a row, never changed; the newest holds."""

from sqlalchemy import Connection, func, insert, select

from afterwit.model import SettingsChange
from afterwit.store.codec import from_json, to_json
from afterwit.store.ledger import lock_scope, require_scope
from afterwit.store.tables import settings


def change(connection: Connection, scope: str, wanted: SettingsChange) -> bool:
    """False where the newest row says the same already."""
    lock_scope(connection, scope, "rounds")
    kept = changes(connection, scope, wanted.bank)
    if kept and kept[0].settings == wanted.settings:
        return False
    write(connection, scope, wanted)
    return True


def write(connection: Connection, scope: str, wanted: SettingsChange) -> None:
    of_bank = (settings.c.scope == scope) & (settings.c.bank == wanted.bank)
    last = connection.scalar(select(func.max(settings.c.number)).where(of_bank))
    row = {"scope": scope, "bank": wanted.bank, "number": (last or 0) + 1, "payload": to_json(wanted)}
    connection.execute(insert(settings).values(row))


def changes(connection: Connection, scope: str, bank: str | None = None) -> tuple[SettingsChange, ...]:
    """Newest first, bank by bank."""
    require_scope(connection, scope)
    query = select(settings.c.payload).where(settings.c.scope == scope)
    if bank is not None:
        query = query.where(settings.c.bank == bank)
    found = connection.scalars(query.order_by(settings.c.bank, settings.c.number.desc()))
    return tuple(from_json(SettingsChange, payload) for payload in found)
