"""When a card applies: a typed condition over an episode's context.

Grammar of the text form: clauses joined by ``;`` or ``and``; each is ``field = value``, ``field in a|b``,
``field != value``, ``field not in a|b``, ``field >= number`` or ``field < number``.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from afterwit.errors import ConditionError

type_of_value = (str, int, float, bool)
Value = str | int | float | bool
Context = Mapping[str, Value]
Operator = Literal["in", "not in", ">=", "<"]

_OPERATORS: dict[str, Operator] = {"=": "in", "in": "in", "!=": "not in", "not in": "not in", ">=": ">=", "<": "<"}
_COMPLEMENT: dict[Operator, Operator] = {"in": "not in", "not in": "in", ">=": "<", "<": ">="}
_CLAUSE = re.compile(r"^\s*([\w.\- ]*?[\w.\-])\s*(not in\b|in\b|!=|>=|<|=)\s*(.+?)\s*$", re.UNICODE)


@dataclass(frozen=True, kw_only=True)
class Clause:
    """One test on one field.

    field: the context field. operator: membership or a bound. values: the members, or the one bound.
    """

    field: str
    operator: Operator
    values: tuple[Value, ...]

    def holds(self, context: Context) -> bool:
        """False where the context lacks the field: an unknown context never satisfies a condition."""
        if self.field not in context:
            return False
        value = context[self.field]
        if self.operator == "in":
            return str(value) in map(str, self.values)
        if self.operator == "not in":
            return str(value) not in map(str, self.values)
        try:
            number = float(value)
        except ValueError:
            return False
        bound = float(self.values[0])
        return number >= bound if self.operator == ">=" else number < bound

    @property
    def complement(self) -> "Clause":
        """Holds where this one does not, in contexts that know the field."""
        return replace(self, operator=_COMPLEMENT[self.operator])

    def __str__(self) -> str:
        values = "|".join(map(str, self.values))
        if len(self.values) == 1 and self.operator in ("in", "not in"):
            return f"{self.field} {'=' if self.operator == 'in' else '!='} {values}"
        return f"{self.field} {self.operator} {values}"


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A conjunction of clauses; the empty one holds everywhere."""

    clauses: tuple[Clause, ...] = ()

    @staticmethod
    def parse(text: str) -> "Condition":
        """Raises ConditionError on text outside the grammar."""
        clauses = []
        for part in re.split(r";|\band\b", text):
            if not part.strip():
                continue
            found = _CLAUSE.match(part)
            if not found:
                raise ConditionError(f"condition {part.strip()!r} does not read as 'field = value': see the docs")
            field, sign, rest = found.groups()
            operator = _OPERATORS[sign]
            bound = operator in (">=", "<")
            values: tuple[Value, ...] = (_number(field, rest),) if bound else tuple(map(str.strip, rest.split("|")))
            clauses.append(Clause(field=field.strip(), operator=operator, values=values))
        return Condition(clauses=tuple(sorted(clauses, key=str)))

    @staticmethod
    def of(given: "Condition | Mapping[str, Value | Iterable[Value]] | str | None") -> "Condition":
        """A condition from what a caller may hold: text, a mapping of field to value or values, or nothing."""
        if given is None:
            return Condition()
        if isinstance(given, Condition):
            return given
        if isinstance(given, str):
            return Condition.parse(given)
        if not isinstance(given, Mapping):
            raise ConditionError(f"a condition is text or a mapping of field to value, not {given!r}")
        clauses = []
        for field, v in given.items():
            if isinstance(v, Iterable) and not isinstance(v, str | bytes | Mapping):
                values: tuple[Value, ...] = tuple(v)
            else:
                values = (v,)  # type: ignore[assignment]
            for value in values:
                check_value(field, value)
            clauses.append(Clause(field=field, operator="in", values=values))
        return Condition(clauses=tuple(sorted(clauses, key=str)))

    def holds(self, context: Context) -> bool:
        return all(clause.holds(context) for clause in self.clauses)

    @property
    def fields(self) -> frozenset[str]:
        return frozenset(clause.field for clause in self.clauses)

    def narrowed(self, clause: Clause) -> "Condition":
        return Condition(clauses=tuple(sorted({*self.clauses, clause}, key=str)))

    def overlaps(self, other: "Condition") -> bool:
        """Whether some context could satisfy both; fields that only one side names never exclude."""
        return all(
            _satisfiable([c for c in (*self.clauses, *other.clauses) if c.field == field])
            for field in self.fields & other.fields
        )

    def __str__(self) -> str:
        return "; ".join(map(str, self.clauses)) or "always"


def check_value(field: object, value: object) -> None:
    """Raises ConditionError for what no context may hold: a field without a name, a value that is no plain one."""
    if not isinstance(field, str) or not field.strip():
        raise ConditionError(f"a context field needs a name, not {field!r}")
    if not isinstance(value, type_of_value) or (isinstance(value, float) and not math.isfinite(value)):
        raise ConditionError(f"context field {field!r} holds {value!r}: give text, a finite number, or true or false")


def _number(field: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConditionError(f"condition on {field!r}: {text!r} is not a number") from None


def _satisfiable(clauses: list[Clause]) -> bool:
    low = max((float(c.values[0]) for c in clauses if c.operator == ">="), default=-math.inf)
    high = min((float(c.values[0]) for c in clauses if c.operator == "<"), default=math.inf)
    if low >= high:
        return False
    members = [set(map(str, c.values)) for c in clauses if c.operator == "in"]
    if not members:
        return True
    left = set.intersection(*members).difference(*(set(map(str, c.values)) for c in clauses if c.operator == "not in"))
    bounds = [c for c in clauses if c.operator in (">=", "<")]
    return any(all(b.holds({b.field: value}) for b in bounds) for value in left)
