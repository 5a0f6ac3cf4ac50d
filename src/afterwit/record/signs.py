"""What the head of a log tells of each of its columns."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from afterwit.record.words import kind_of, roles_of

_ISO = re.compile(r"^\s*\d{4}-\d\d?-\d\d?([ T]|\s*$)")
_ZONED = re.compile(r"\d\d:\d\d.*(Z|UTC|[+-]\d\d(:?\d\d)?)\s*$")
_SLASHED = re.compile(r"^\s*(\d{1,2})([./-])(\d{1,2})[./-](\d{2,4})\b")
_GROUPED = re.compile(r"^\s*\d{1,3}([,.' \u00a0\u202f]\d{3})+\s*$")
_MOST = 0.9
_SINCE, _UNTIL = 946_684_800, 2_208_988_800  # Unix times of 2000 and 2040


@dataclass(frozen=True)
class Signs:
    """values: of the head's rows, None where empty."""

    name: str
    values: Sequence[str | None]

    @cached_property
    def filled(self) -> list[str]:
        return [value for value in self.values if value and value.strip()]

    @cached_property
    def levels(self) -> int:
        return len(set(self.filled))

    @cached_property
    def roles(self) -> tuple[str, ...]:
        return roles_of(self.name)

    @cached_property
    def unique(self) -> bool:
        return self.levels == len(self.values) > 1

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Value → kind, where the column says what happened."""
        if not self.filled or self.levels > 30:
            return {}
        named = {value: kind for value in set(self.filled) if (kind := kind_of(value))}
        return named if sum(value in named for value in self.filled) >= 0.4 * len(self.filled) else {}

    @cached_property
    def iso(self) -> bool:
        return self._most(lambda value: bool(_ISO.match(value)))

    @cached_property
    def slashed(self) -> bool:
        return self._most(lambda value: bool(_SLASHED.match(value)))

    @cached_property
    def unix(self) -> bool:
        return self._most(_unix)

    @property
    def time(self) -> bool:
        if not self.values:
            return self._named_time
        return self.iso or self.slashed or (self.unix and (not self.roles or self._named_time))

    @property
    def _named_time(self) -> bool:
        return any(role in ("at", "created_at", "observed_at") for role in self.roles)

    @property
    def zoned(self) -> bool:
        return not (self.iso or self.slashed) or all(_ZONED.search(value) for value in self.filled)

    @cached_property
    def day_first(self) -> bool | None:
        """Of slashed dates; None where the head does not decide."""
        found = [match for value in self.filled if (match := _SLASHED.match(value))]
        if any(int(match[1]) > 12 for match in found):
            return True
        return False if any(int(match[3]) > 12 for match in found) else None

    @property
    def format(self) -> str:
        """Of slashed dates, as far as their first value shows it."""
        match = _SLASHED.match(self.filled[0])
        assert match is not None
        year = "%Y" if len(match[4]) == 4 else "%y"
        first, second = ("%m", "%d") if self.day_first is False else ("%d", "%m")
        rest = self.filled[0].strip()[match.end() - (len(self.filled[0]) - len(self.filled[0].lstrip())) :]
        clock = {0: "", 1: " %H:%M", 2: " %H:%M:%S"}.get(rest.count(":"), "")
        return match[2].join((first, second, year)) + clock

    @cached_property
    def whole(self) -> bool:
        return self._most(lambda value: bool(re.fullmatch(r"\s*\d+(\.0+)?\s*", value)))

    @cached_property
    def grouped(self) -> str | None:
        """The mark inside its numbers."""
        found = [match[1][0] for value in self.filled if (match := _GROUPED.match(value))]
        plain = self._most(lambda value: bool(_GROUPED.match(value) or value.strip().isdigit()))
        return found[0] if found and plain else None

    @cached_property
    def flag(self) -> bool:
        return bool(self.filled) and {value.strip().lower() for value in self.filled} <= {"0", "1", "true", "false"}

    @cached_property
    def numbers(self) -> list[float]:
        return [float(value) for value in self.filled if re.fullmatch(r"\s*\d+(\.0+)?\s*", value)]

    @cached_property
    def words(self) -> float:
        """Mean number of words."""
        return sum(len(value.split()) for value in self.filled) / max(len(self.filled), 1)

    def within(self, other: "Signs") -> dict[str | None, set[str | None]]:
        """Value → values of another column that come with it."""
        found: dict[str | None, set[str | None]] = {}
        for value, beside in zip(self.values, other.values, strict=True):
            found.setdefault(value, set()).add(beside)
        return found

    def _most(self, test: Callable[[str], bool]) -> bool:
        return bool(self.filled) and sum(map(test, self.filled)) >= _MOST * len(self.filled)


def _unix(value: str) -> bool:
    try:
        number = float(value)
    except ValueError:
        return False
    return any(_SINCE <= number / factor < _UNTIL for factor in (1, 1e3, 1e6, 1e9))
