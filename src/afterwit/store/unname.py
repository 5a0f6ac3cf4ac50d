"""Ids of what was forgotten leave the history that goes on naming it: another word stands wherever one stood."""

import re
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select, update

from afterwit.store.codec import dumps, loads
from afterwit.store.tables import cards, deliveries, edits, episodes, recalls, rounds

_HOLD_IDS = (edits, rounds, cards, episodes, deliveries, recalls)


def unname(connection: Connection, scope: str, names: Mapping[str, str]) -> None:
    """names: id → what stands in its place. An id counts where no letter, digit or hyphen goes on from it, so that
    ``d1`` is not found in ``d10``."""
    if not names:
        return
    longest_first = sorted(names, key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])")
    raw = [dumps(id_)[1:-1] for id_ in names]
    for table in _HOLD_IDS:
        key = list(table.primary_key)
        for row in connection.execute(select(*key, table.c.payload).where(table.c.scope == scope)).all():
            if any(id_ in row.payload for id_ in raw):
                text = dumps(_renamed(loads(row.payload), names, pattern))
                here = [column == getattr(row, column.name) for column in key]
                connection.execute(update(table).where(*here).values(payload=text))


def _renamed(data: Any, names: Mapping[str, str], pattern: re.Pattern[str]) -> Any:
    if isinstance(data, str):
        return pattern.sub(lambda found: names[found[0]], data)
    if isinstance(data, list):
        return [_renamed(value, names, pattern) for value in data]
    if isinstance(data, dict):
        return {_renamed(name, names, pattern): _renamed(value, names, pattern) for name, value in data.items()}
    return data
