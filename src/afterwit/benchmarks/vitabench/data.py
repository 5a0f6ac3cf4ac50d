"""The published tasks: what the user wants, and the rubrics that all must hold."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afterwit.errors import InputError


@dataclass(frozen=True, kw_only=True)
class VitaTask:
    """said: what the user is told to want. profile: who the user is. rubrics: of the whole run, each must hold.
    orders: alternatives of what must have been ordered, each a list of orders and reservations as the data has them."""

    id: str
    domain: str
    said: str
    profile: Mapping[str, Any]
    environment: Mapping[str, Any]
    rubrics: tuple[str, ...]
    orders: tuple[tuple[Mapping[str, Any], ...], ...]


def load(path: Path) -> tuple[VitaTask, ...]:
    """Raises InputError, naming the task."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from None
    if not isinstance(rows, list):
        raise InputError(f"{path}: a list of tasks is wanted")
    return tuple(_task(path, place, row) for place, row in enumerate(rows, start=1))


def _task(path: Path, place: int, row: Any) -> VitaTask:
    try:
        criteria = row["evaluation_criteria"]
        rubrics = tuple(str(one) for one in criteria["overall_rubrics"])
        if not rubrics:
            raise ValueError("it has no rubric")
        return VitaTask(
            id=str(row["id"]),
            domain=str(row["domain"]),
            said=str(row["instructions"]),
            profile=dict(row["user_scenario"]["user_profile"]),
            environment=dict(row["environment"]),
            rubrics=rubrics,
            orders=tuple(tuple(state.get("required_orders") or ()) for state in criteria.get("expected_states") or ()),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}, task {place}: {type(error).__name__}: {error}") from None
