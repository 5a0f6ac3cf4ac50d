"""A mapping proposed from the head of a log: what is sure, what is guessed, what is missing."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from afterwit.record.mapping import ColumnMapping
from afterwit.record.signs import Signs
from afterwit.record.style import Style, style_of
from afterwit.record.table import columns_of, connect, load

Sureness = Literal["sure", "guessed", "missing"]
_HEAD = 2_000
_CONTEXT = 5
_KINDS = ("impression", "click", "conversion", "negative")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the proposal. value: None where it is missing; example: what it may look like then."""

    key: str
    value: Any
    sureness: Sureness
    why: str
    example: Any = None


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """source: the file; rows: how many of its rows were looked at; unused: columns that it leaves out."""

    source: str
    rows: int
    entries: tuple[Entry, ...]
    unused: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.sureness == "missing")

    @property
    def text(self) -> str:
        """The mapping file, each line with its reason."""
        head = [f"# Proposed from the first {self.rows} rows of {Path(self.source).name}. Check what is guessed, then:"]
        head.append(f"#   afterwit ingest {self.source} --mapping THIS_FILE --dry-run")
        if self.missing:
            head.append(f"# Missing: {', '.join(dict.fromkeys(entry.key for entry in self.missing))}.")
        lines = [line for entry in self.entries if not isinstance(entry.value, dict) for line in _lines(entry)]
        tables = [line for entry in self.entries if isinstance(entry.value, dict) for line in _table(entry)]
        rest = [f"# Not used: {', '.join(self.unused[:40])}" + (" …" if len(self.unused) > 40 else "")]
        return "\n".join((*head, "", *lines, *(rest if self.unused else ()), *tables)) + "\n"


def propose(path: Path) -> Proposal:
    """From the head of a log; no row is kept. Raises InputError for a file that cannot be read."""
    style, said = style_of(path)
    with connect() as engine:
        columns = columns_of(engine, path, style)
        rows = load(engine, path, columns, style, head=_HEAD)
        table = engine.sql('SELECT * EXCLUDE ("#row", "#bad") FROM source WHERE "#bad" IS NULL').to_arrow_table()
    signs = [Signs(name, table.column(i).to_pylist()) for i, name in enumerate(columns)]
    entries = [*_style_entries(style, said), *_Reading(signs).entries()]
    used = {name for entry in entries for name in _names(entry.value)}
    return Proposal(
        source=str(path),
        rows=rows,
        entries=tuple(entries),
        unused=tuple(name for name in columns if name not in used),
    )


def mapping_of(proposal: Proposal) -> ColumnMapping:
    """The mapping that the proposal's text is. Raises InputError while something that it needs is missing."""
    return ColumnMapping.parse(proposal.text, f"proposed for {proposal.source}")


class _Reading:
    """Takes the columns one role after another; what has a role is not asked for another."""

    def __init__(self, signs: Sequence[Signs]) -> None:
        self.free = list(signs)
        self.single: Signs | None = None  # the column of the delivery's id
        self.kind = self._best("kind", [s for s in signs if s.kinds or (not s.values and "kind" in s.roles)])

    def entries(self) -> Iterator[Entry]:
        counts = {} if self.kind else self._counts()
        flags = bool(counts) and not any(kind == "impression" for kind, _, _ in counts.values())
        event = self._named("event") if self.kind else None
        user = self._named("user")
        text = self._named("text") or self._guess("text", lambda s: s.words >= 3 and s.levels > 1, lambda s: s.words)
        daily = bool(counts) and self._repeats(text)
        yield from self._times(bool(self.kind or flags or daily))
        experiment = self._named("experiment") or self._tests(text)
        others = [(role, self._named(role)) for role in ("placement", "audience", "policy", "propensity", "count")]
        yield from self._delivery(text, experiment, dict(others).get("placement"))
        yield from self._column("event", event)
        yield from self._column("user", user if self.kind or flags else None)
        yield from self._column(
            "text", text, wanted="what people saw; without it only declared decisions can be learned"
        )
        yield from self._column(
            "experiment", experiment, wanted="which randomised test a row belongs to; without one, evidence is weaker"
        )
        for role, column in others:
            if role != "count" or self.kind:
                yield from self._column(role, column)
        yield from self._context()
        if self.kind:
            yield Entry(
                key="kind", value=self.kind.name, sureness=_by_name(self.kind, "kind"), why="it says what happened"
            )
        if self.kind and self.kind.kinds:
            yield Entry(key="kinds", value=self.kind.kinds, sureness="guessed", why="what its values mean")
        if counts:
            if flags:
                yield Entry(key="each", value="impression", sureness="guessed", why="every row is one of these")
            sure: Sureness = "sure" if all(s == "sure" for _, s, _ in counts.values()) else "guessed"
            mark = next((m for _, _, m in counts.values() if m), None)
            if mark:
                yield Entry(
                    key="thousands",
                    value=None,
                    example=mark,
                    sureness="missing",
                    why="numbers such as 1,000 need your word",
                )
            yield Entry(
                key="counts",
                value={name: kind for name, (kind, _, _) in counts.items()},
                sureness=sure,
                why="what is counted",
            )
        elif not self.kind:
            why = "a column of kinds of events, or columns of counts"
            yield Entry(key="kind", value=None, example="COLUMN", sureness="missing", why=why)

    def _times(self, events: bool) -> Iterator[Entry]:
        times = [s for s in self.free if s.time]
        roles = ("at", "created_at") if events else ("created_at", "observed_at")
        taken: dict[str, Signs] = {}
        for role in ("created_at", "observed_at", "at"):
            named = next((s for s in times if role in s.roles and s not in taken.values()), None)
            if named and (role in roles or (role == "at" and not events and "created_at" not in taken)):
                taken["created_at" if role == "at" and not events else role] = named
        for role in roles[:1]:
            if role not in taken and (rest := [s for s in times if s not in taken.values()]):
                taken[role] = rest[0]
        for role, signs in taken.items():
            self.free.remove(signs)
            why = "when it was first shown" if role == "created_at" else "when it happened"
            yield Entry(key=role, value=signs.name, sureness=_by_name(signs, role), why=why)
        if events and "created_at" not in taken and "at" in taken:
            why = "no other time: a delivery begins with its first event"
            yield Entry(key="created_at", value=taken["at"].name, sureness="guessed", why=why)
        if roles[0] not in taken:
            yield Entry(
                key=roles[0], value=None, example="COLUMN", sureness="missing", why="no column of times was found"
            )
        if not events and "observed_at" not in taken:
            yield Entry(key="final", value=True, sureness="guessed", why="the counts will not change; else observed_at")
            yield Entry(key="window_hours", value=168, sureness="guessed", why="hours from created_at to these counts")
        yield from self._forms(list(taken.values()))

    def _forms(self, times: list[Signs]) -> Iterator[Entry]:
        if slashed := next((s for s in times if s.slashed), None):
            sure: Sureness = "missing" if slashed.day_first is None else "guessed"
            why = "day-first or month-first: the rows do not tell" if sure == "missing" else "from a day above 12"
            value = None if sure == "missing" else slashed.format
            yield Entry(key="time_format", value=value, example=slashed.format, sureness=sure, why=why)
        if any(not s.zoned or s.slashed for s in times):
            why = "the times name no zone"
            yield Entry(key="timezone", value=None, example="UTC", sureness="missing", why=why)

    def _counts(self) -> dict[str, tuple[str, Sureness, str | None]]:
        found: dict[str, tuple[str, Sureness, str | None]] = {}
        able = [s for s in self.free if s.whole or s.grouped or s.flag]
        for kind in _KINDS:
            if signs := next((s for s in able if kind in s.roles and s.name not in found), None):
                found[signs.name] = (kind, "sure", signs.grouped)
        if not found:
            found = {name: (kind, "guessed", None) for name, kind in _by_size(able)}
        self.free = [s for s in self.free if s.name not in found]
        return found

    def _delivery(self, text: Signs | None, experiment: Signs | None, placement: Signs | None) -> Iterator[Entry]:
        named = self._best("delivery", [s for s in self.free if "delivery" in s.roles and _tells_apart(s, text)])
        self.single = named
        if named:
            yield Entry(key="delivery", value=[named.name], sureness="sure", why="its id")
            return
        ids = [s for s in self.free if s.words <= 1.2 and not s.time and s.levels > 1 and not (s.flag or s.numbers)]
        wanted = (lambda s: not s.unique) if self.kind else (lambda s: s.unique)
        ids = [s for s in ids if wanted(s) and "id" in s.name.lower()] or [s for s in ids if wanted(s)]
        if text and self.kind and (told := [s for s in ids if all(len(v) == 1 for v in s.within(text).values())]):
            ids = sorted(told, key=lambda s: -s.levels)[-1:]
        best = max(ids, key=lambda s: s.levels, default=None)
        if best:
            self.free.remove(best)
            self.single = best
            yield Entry(key="delivery", value=[best.name], sureness="guessed", why="it tells deliveries apart")
            return
        parts = [s.name for s in (experiment, placement, text) if s]
        if parts:
            yield Entry(key="delivery", value=parts, sureness="guessed", why="no id was found: these together make one")
        else:
            why = "no column tells deliveries apart"
            yield Entry(key="delivery", value=None, example=["COLUMN"], sureness="missing", why=why)

    def _repeats(self, text: Signs | None) -> bool:
        """Whether counts of one delivery come at several times, as in a report by day."""
        times = [s for s in self.free if s.time and "observed_at" not in s.roles]
        keys = [s for s in self.free if "delivery" in s.roles] or ([text] if text else [])
        return any(len(seen) > 1 for s in times for key in keys[:1] for seen in key.within(s).values())

    def _tests(self, text: Signs | None) -> Signs | None:
        """A column whose every value comes with a few texts."""
        if text is None or self.kind:
            return None
        able = [s for s in self.free if s.levels >= 3 and s.words <= 2 and not s.time and not s.flag]
        fit = [s for s in able if all(2 <= len(texts) <= 20 for texts in s.within(text).values())]
        return self._best("experiment", sorted(fit, key=lambda s: -s.levels)[:1])

    def _context(self) -> Iterator[Entry]:
        able = [s for s in self.free if self.single is None or all(len(v) == 1 for v in self.single.within(s).values())]
        able = [
            s for s in able
            if 2 <= s.levels <= min(20, len(s.values) - 1) and s.words <= 3 and not (s.time or s.flag or s.numbers)
        ][:_CONTEXT]  # fmt: skip
        for signs in able:
            self.free.remove(signs)
        if able:
            why = "few values each: they set deliveries apart, and conditions may name them"
            yield Entry(key="context", value=[s.name for s in able], sureness="guessed", why=why)

    def _best(self, role: str, able: Sequence[Signs]) -> Signs | None:
        found = next((s for s in able if role in s.roles), next(iter(able), None))
        if found:
            self.free.remove(found)
        return found

    def _named(self, role: str) -> Signs | None:
        return self._best(role, [s for s in self.free if role in s.roles and (s.filled or not s.values)])

    def _guess(self, role: str, able: Any, size: Any) -> Signs | None:
        found = [s for s in self.free if able(s)]
        return self._best(role, sorted(found, key=size, reverse=True)[:1])

    def _column(self, key: str, signs: Signs | None, *, wanted: str = "") -> Iterator[Entry]:
        if signs:
            sure = _by_name(signs, key)
            yield Entry(
                key=key, value=signs.name, sureness=sure, why="by its name" if sure == "sure" else "by its values"
            )
        elif wanted:
            yield Entry(key=key, value=None, example="COLUMN", sureness="missing", why=wanted)


def _by_size(able: Sequence[Signs]) -> list[tuple[str, str]]:
    """Two columns of which one is never above the other, and mostly far below it: impressions and clicks."""
    for many in sorted((s for s in able if len(s.numbers) >= 3), key=lambda s: -sum(s.numbers)):
        for few in able:
            both = len(few.numbers) == len(many.numbers) and few is not many
            if both and all(a <= b for a, b in zip(few.numbers, many.numbers, strict=True)) and any(few.numbers):
                return [(many.name, "impression"), (few.name, "click")]
    return []


def _tells_apart(signs: Signs, text: Signs | None) -> bool:
    """Whether a column may be an id: a ``variant`` that is A or B in every test goes with many texts."""
    filled = bool(signs.filled or not signs.values)
    return filled and (text is None or all(len(texts) == 1 for texts in signs.within(text).values()))


def _by_name(signs: Signs, role: str) -> Sureness:
    return "sure" if role in signs.roles and signs.filled else "guessed"


def _style_entries(style: Style, said: str) -> Iterator[Entry]:
    if style.encoding:
        yield Entry(key="encoding", value=style.encoding, sureness="guessed", why="the file is not UTF-8")
    if style.skip:
        yield Entry(key="skip", value=style.skip, sureness="guessed", why=said)


def _lines(entry: Entry) -> Iterator[str]:
    value = entry.example if entry.value is None else entry.value
    sign = "# " if entry.value is None else ""
    yield f"{sign}{entry.key} = {json.dumps(value, ensure_ascii=False)}  # {entry.sureness}: {entry.why}"


def _table(entry: Entry) -> Iterator[str]:
    yield f"\n[{entry.key}]  # {entry.sureness}: {entry.why}"
    for name, value in entry.value.items():
        yield f"{json.dumps(name, ensure_ascii=False)} = {json.dumps(value)}"


def _names(value: Any) -> Sequence[str]:
    return [value] if isinstance(value, str) else list(value) if isinstance(value, list | dict) else []
