"""Which column of a delivery log means what."""

import tomllib
from importlib import resources
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from afterwit.errors import InputError

_COUNTS = {"impressions": "impression", "clicks": "click", "conversions": "conversion", "negatives": "negative"}


class ColumnMapping(BaseModel):
    """A mapping file, TOML.

    delivery: the column of the delivery id, or several that are hashed into one. Row-level events have ``event``,
    ``kind`` and ``at``; they are available when they happen, or at ``available_at``. Aggregates have ``counts``,
    column → kind, and either ``final = true`` or ``observed_at``; they are available at observed_at, or at created_at
    + ``window_hours``, and what is observed again replaces the count, it is not added. ``created_at`` with or without
    ``text`` makes the row declare its delivery. context: columns that stratify and that conditions may name, without
    a leading ``context.``. timezone: of naive times.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    delivery: tuple[str, ...] = Field(min_length=1)
    event: str | None = None
    kind: str | None = None
    at: str | None = None
    available_at: str | None = None
    count: str | None = None
    user: str | None = None
    counts: dict[str, str] = Field(default_factory=dict)
    window_hours: float = Field(default=168.0, ge=0)
    final: bool = False
    observed_at: str | None = None
    created_at: str | None = None
    text: str | None = None
    experiment: str | None = None
    placement: str | None = None
    audience: str | None = None
    policy: str | None = None
    propensity: str | None = None
    context: tuple[str, ...] = ()
    timezone: str | None = None

    @property
    def shape(self) -> Literal["events", "aggregates", "deliveries"]:
        return "events" if self.kind else "aggregates" if self.counts else "deliveries"

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that the mapping names, once."""
        single = (
            self.event,
            self.kind,
            self.at,
            self.available_at,
            self.count,
            self.user,
            self.observed_at,
            self.created_at,
            self.text,
            self.experiment,
            self.placement,
            self.audience,
            self.policy,
            self.propensity,
        )
        named = (*self.delivery, *(c for c in single if c), *self.counts, *self.context)
        return tuple(dict.fromkeys(named))

    @staticmethod
    def load(name_or_path: str | Path) -> "ColumnMapping":
        """A bundled mapping by name (``headlines``) or a TOML file. Raises InputError."""
        path = Path(name_or_path)
        bundled = resources.files("afterwit") / "data" / "mappings" / f"{name_or_path}.toml"
        if path.suffix != ".toml" and bundled.is_file():
            text = bundled.read_text(encoding="utf-8")
        elif path.is_file():
            text = path.read_text(encoding="utf-8")
        else:
            raise InputError(f"there is no mapping {str(name_or_path)!r}: give a TOML file or 'headlines'")
        try:
            return ColumnMapping.model_validate(tomllib.loads(text))._checked(str(name_or_path))
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"mapping {name_or_path}: {error}") from None
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise InputError(f"mapping {name_or_path}: {place}: {first['msg']}") from None

    @staticmethod
    def guess(columns: tuple[str, ...], source: str) -> "ColumnMapping":
        """The mapping of a file that uses our own column names. Raises InputError that lists what it has."""
        have = set(columns)
        if "delivery_id" not in have:
            raise InputError(
                f"{source} has no column 'delivery_id' (it has {', '.join(sorted(columns))}): give a mapping"
            )
        declares = ("created_at", "text", "experiment", "placement", "audience", "policy", "propensity")
        found: dict[str, object] = {name: name for name in declares if name in have}
        if "kind" in have:
            found |= {"event": "event_id", "kind": "kind", "at": "at"}
            optional = {"count": "count", "user": "user_id", "available_at": "available_at"}
            found |= {name: column for name, column in optional.items() if column in have}
        elif have & _COUNTS.keys():
            found["counts"] = {column: kind for column, kind in _COUNTS.items() if column in have}
            found |= {"observed_at": "observed_at"} if "observed_at" in have else {"final": True}
        used = {v for v in found.values() if isinstance(v, str)} | _COUNTS.keys() | {"delivery_id"}
        if "created_at" in have:
            found["context"] = tuple(c for c in columns if c not in used)
        return ColumnMapping.model_validate({"delivery": ("delivery_id",), **found})._checked(source)

    def _checked(self, source: str) -> "ColumnMapping":
        if self.shape == "events" and not (self.event and self.at):
            raise InputError(f"mapping {source}: row-level events need the columns of 'event', 'kind' and 'at'")
        if self.shape == "aggregates" and "impression" not in self.counts.values():
            raise InputError(f"mapping {source}: counts need a column for the kind 'impression'")
        if self.shape == "aggregates" and not (self.final or self.observed_at):
            raise InputError(f"mapping {source}: aggregates need final = true, or the column of 'observed_at'")
        if self.shape != "events" and not self.created_at:
            raise InputError(f"mapping {source}: a row that is no event needs the column of 'created_at'")
        return self
