"""Which column of a delivery log means what."""

import tomllib
from importlib import resources
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from afterwit.errors import InputError
from afterwit.record.style import Style
from afterwit.record.table import named

_CONTEXT = 20  # columns beside ours that a log without a mapping may have
_ALONE = ("event", "kind", "count", "propensity", "at", "created_at", "observed_at", "available_at")
_SHARED = ("text", "experiment", "placement", "audience", "policy", "user")
_COUNTS = {"impressions": "impression", "clicks": "click", "conversions": "conversion", "negatives": "negative"}


class ColumnMapping(BaseModel):
    """A mapping file, TOML.

    delivery: the column of the delivery id, or several that are hashed into one.

    Events have ``at`` and either ``kind``, a column that says what happened (``kinds`` translates its values), or
    ``counts``, column → kind, which add up, as in a report by day; ``each`` names what every row is one of, beside its
    counts. ``event``, where there is one, is the column of the event's id; without it the id is made from what the row
    says and its occurrence in the file. Events are available when they happen, or at ``available_at``.

    Aggregates have ``counts`` and no ``at``, and either ``final = true`` or ``observed_at``; they are available at
    observed_at, or at created_at + ``window_hours``, and what is observed again replaces the count, it is not added.

    ``created_at`` with or without ``text`` makes the row declare its delivery; where it is the column of ``at``, the
    delivery begins with its first event. context: columns that stratify and that conditions may name, without a leading
    ``context.``.

    How the file is written: timezone of times that name none; time_format, as ``strptime`` has it or ``s``, ``ms``,
    ``us``, ``ns`` for Unix times; thousands, the mark inside counts; delimiter, encoding, and skip, the lines before
    the header.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    delivery: tuple[str, ...] = Field(min_length=1)
    event: str | None = None
    kind: str | None = None
    at: str | None = None
    available_at: str | None = None
    count: str | None = None
    user: str | None = None
    kinds: dict[str, str] = Field(default_factory=dict)
    counts: dict[str, str] = Field(default_factory=dict)
    each: str | None = None
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
    time_format: str | None = None
    thousands: Literal[",", ".", " ", "'", "_"] | None = None
    delimiter: str | None = Field(default=None, min_length=1, max_length=1)
    encoding: str | None = None
    skip: int | None = Field(default=None, ge=0)

    @property
    def shape(self) -> Literal["events", "wide", "aggregates", "deliveries"]:
        """wide: events in columns of counts."""
        if self.kind:
            return "events"
        if self.at and (self.counts or self.each):
            return "wide"
        return "aggregates" if self.counts else "deliveries"

    @property
    def style(self) -> Style:
        return Style(delimiter=self.delimiter, encoding=self.encoding, skip=self.skip)

    @property
    def begins_with_event(self) -> bool:
        return self.created_at is not None and self.created_at == self.at

    @property
    def times(self) -> tuple[str, ...]:
        """Columns of times, once each."""
        found = (self.created_at, self.at, self.observed_at, self.available_at)
        return tuple(dict.fromkeys(column for column in found if column))

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
        return ColumnMapping.parse(text, str(name_or_path))

    @staticmethod
    def parse(text: str, source: str) -> "ColumnMapping":
        """The text of a mapping file. Raises InputError."""
        try:
            return ColumnMapping.model_validate(tomllib.loads(text))._checked(source)
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"mapping {source}: {error}") from None
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise InputError(f"mapping {source}: {place}: {first['msg']}") from None

    @staticmethod
    def guess(columns: tuple[str, ...], source: str) -> "ColumnMapping":
        """The mapping of a file that uses our own column names. Raises InputError that lists what it has."""
        have = set(columns)
        if "delivery_id" not in have:
            raise InputError(
                f"{source} has no column 'delivery_id' (it has {named(columns)}): give a mapping; "
                f"'afterwit mapping {source}' proposes one"
            )
        declares = ("created_at", "text", "experiment", "placement", "audience", "policy", "propensity")
        found: dict[str, object] = {name: name for name in declares if name in have}
        if "kind" in have:
            found |= {"kind": "kind", "at": "at"}
            optional = {"event": "event_id", "count": "count", "user": "user_id", "available_at": "available_at"}
            found |= {name: column for name, column in optional.items() if column in have}
        elif have & _COUNTS.keys():
            found["counts"] = {column: kind for column, kind in _COUNTS.items() if column in have}
            found |= {"observed_at": "observed_at"} if "observed_at" in have else {"final": True}
        used = {v for v in found.values() if isinstance(v, str)} | _COUNTS.keys() | {"delivery_id"}
        if "created_at" in have:
            found["context"] = rest = tuple(c for c in columns if c not in used)
            if len(rest) > _CONTEXT:
                raise InputError(
                    f"{source} has {len(rest)} columns beside Afterwit's own, and all would set deliveries apart: name "
                    f"those that matter in a mapping; 'afterwit mapping {source}' proposes one"
                )
        return ColumnMapping.model_validate({"delivery": ("delivery_id",), **found})._checked(source)

    def _checked(self, source: str) -> "ColumnMapping":
        if self.shape == "events" and not self.at:
            raise InputError(f"mapping {source}: row-level events need the columns of 'kind' and 'at'")
        if self.event and self.shape != "events":
            raise InputError(f"mapping {source}: 'event' is an id of row-level events: give 'kind' and 'at' too")
        if self.kind and (self.counts or self.each):
            raise InputError(f"mapping {source}: 'kind' says what a row is: leave out 'counts' and 'each'")
        if self.each and not self.at:
            raise InputError(f"mapping {source}: 'each' makes every row an event: name the column of 'at'")
        if self.shape == "wide" and (self.final or self.observed_at):
            raise InputError(f"mapping {source}: counts with 'at' add up: leave out 'final' and 'observed_at'")
        if self.shape in ("wide", "aggregates") and "impression" not in (*self.counts.values(), self.each):
            raise InputError(f"mapping {source}: counts need a column for the kind 'impression'")
        if self.shape == "aggregates" and not (self.final or self.observed_at):
            raise InputError(f"mapping {source}: aggregates need final = true, or the column of 'observed_at'")
        if self.shape in ("aggregates", "deliveries") and not self.created_at:
            raise InputError(f"mapping {source}: a row that is no event needs the column of 'created_at'")
        if self.time_format == "":
            raise InputError(f"mapping {source}: time_format is empty: write it as '%d/%m/%Y %H:%M', or leave it out")
        self._require_single(source)
        return self

    def _require_single(self, source: str) -> None:
        """A column of times, counts, kinds or ids of events means one thing; one of names may mean several."""
        alone = [
            (name, getattr(self, name)) for name in _ALONE if not (name == "created_at" and self.begins_with_event)
        ]
        alone += [(f"counts ({kind})", column) for column, kind in self.counts.items()]
        others = [(name, getattr(self, name)) for name in _SHARED] + [("context", column) for column in self.context]
        if len(self.delivery) == 1:
            others.append(("delivery", self.delivery[0]))
        for _, column in alone:
            owners = [name for name, c in (*alone, *others) if column and c == column]
            if len(owners) > 1:
                pair = " and ".join(owners[:2])
                raise InputError(f"mapping {source} names the column {column!r} twice, for {pair}: name it once")
        for name in ("delivery", "context"):
            columns = getattr(self, name)
            if len(set(columns)) < len(columns):
                twice = next(c for c in columns if columns.count(c) > 1)
                raise InputError(f"mapping {source} names the column {twice!r} twice in {name}")
        kinds = list(self.counts.values()) + ([self.each] if self.each else [])
        if len(set(kinds)) < len(kinds):
            twice = next(k for k in kinds if kinds.count(k) > 1)
            raise InputError(f"mapping {source} names two columns of counts for the kind {twice!r}: name one")
