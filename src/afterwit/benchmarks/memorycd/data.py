"""Users' reviews from JSON Lines: what a rating is predicted from, and the rating."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from afterwit.errors import InputError

_Rating = Annotated[float, Field(ge=1, le=5)]


class _Product(BaseModel):
    title: str | None = None


class _Past(BaseModel):
    rating: _Rating


class _Target(_Past):
    """Its own words are not even read: they give the rating away."""

    timestamp_ms: int = Field(ge=0)
    product: _Product


class _Row(BaseModel):
    user_id: str
    category: str
    history: tuple[_Past, ...] = Field(min_length=1)
    heldout: _Target


@dataclass(frozen=True, kw_only=True)
class Task:
    """One prediction. history: the user's earlier ratings in this category, in order; title: of the product."""

    user: str
    category: str
    history: tuple[float, ...]
    title: str
    rating: float
    at: int


def load(folder: Path) -> tuple[Task, ...]:
    """One stream of all files ``*.jsonl`` with reviews, by time of the target. Raises InputError naming the line."""
    paths = sorted(path for path in folder.glob("*.jsonl") if not path.stem.endswith("_personas"))
    tasks = [task for path in paths for task in _tasks(path)]
    if not tasks:
        raise InputError(f"{folder} holds no reviews: give a folder with training.jsonl")
    return tuple(sorted(tasks, key=lambda task: (task.at, task.user, task.category)))


def _tasks(path: Path) -> Iterator[Task]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    for number, line in enumerate(lines, 1):
        try:
            row = _Row.model_validate(json.loads(line))
        except ValidationError as error:
            first = error.errors()[0]
            raise InputError(f"{path}, line {number}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        except ValueError as error:
            raise InputError(f"{path}, line {number} is no JSON: {error}") from None
        yield Task(
            user=row.user_id,
            category=row.category,
            history=tuple(one.rating for one in row.history),
            title=row.heldout.product.title or "",
            rating=row.heldout.rating,
            at=row.heldout.timestamp_ms,
        )
