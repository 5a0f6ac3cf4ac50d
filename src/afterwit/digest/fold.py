"""One turn: the last version and a chunk become the next version, whoever writes it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from afterwit.digest.chunk import Chunk, Count
from afterwit.digest.constraints import Constraint, kept
from afterwit.errors import InputError
from afterwit.guard.steering import steers
from afterwit.guard.text import concerns
from afterwit.model import Profile, ProfileOperator, count_tokens

HEADING = "## Constraints"


class Writer(Protocol):
    """Folds a chunk into a profile's text: by counting, by a model, by a trained checkpoint."""

    @property
    def name(self) -> str: ...

    def __call__(
        self, query: str, text: str, chunk: Chunk, *, budget: int, constraints: Sequence[Constraint], count: Count
    ) -> str:
        """text: the last version without its constraints, "" at first. budget: tokens that the answer may have.
        Raises ModelError where a model fails: the version stays as it was."""


@dataclass(frozen=True, kw_only=True)
class Folding:
    """writer, and the tokenizer in use."""

    writer: Writer
    count: Count = count_tokens
    clock: Callable[[], datetime]

    def fold(self, state: Profile, chunk: Chunk) -> Profile:
        """The next version. Raises InputError where the budget has no room beside the constraints."""
        rules = constraints_of(state.constraints)
        room = room_of(state, self.count)
        text = self.writer(state.query, body(state.text), chunk, budget=room, constraints=rules, count=self.count)
        note = f"{chunk.cut} interactions were longer than a chunk and lost their end" if chunk.cut else ""
        grown = replace(state, interactions=state.interactions + len(chunk.interactions), writer=self.writer.name)
        return self.version(grown, text, operator="fold", note=note)

    def version(self, state: Profile, text: str, *, operator: ProfileOperator, note: str = "") -> Profile:
        """The version that follows ``state`` with this text: constraints above it, lines that break one left out, cut
        to the budget by whole lines."""
        written = text.strip().splitlines()
        unfit = {line: why for line in written if (why := _unfit(line))}
        lines = [line for line in written if line not in unfit]
        allowed = kept(lines, constraints_of(state.constraints))
        notes = [note] if note else []
        if unfit:
            notes.append(f"{len(unfit)} lines were left out: {next(iter(unfit.values()))}")
        if len(allowed) < len(lines):
            notes.append(f"{len(lines) - len(allowed)} lines broke a constraint and were left out")
        head = heading(state.constraints)
        whole = _fitting(head, allowed, state.budget, self.count)
        if len(whole) < len(allowed):
            notes.append(f"{len(allowed) - len(whole)} lines did not fit the budget and were left out")
        final = head + "\n".join(whole) + "\n"
        return replace(
            state,
            version=state.version + 1,
            parent=state.version or None,
            text=final,
            tokens=self.count(final),
            operator=operator,
            at=self.clock(),
            note="; ".join(notes),
        )


def _unfit(line: str) -> str:
    """Why a line may not be remembered; "" where it may."""
    if found := concerns(line):
        return str(found[0])
    place = steers(line)
    return f"it would choose for its reader: {place}" if place else ""


def empty(*, scope: str, user: str, budget: int, at: datetime, query: str = "") -> Profile:
    """What is before the first version."""
    return Profile(
        scope=scope,
        user=user,
        version=0,
        text="",
        tokens=0,
        budget=budget,
        writer="",
        operator="fold",
        at=at,
        query=query,
    )


def heading(constraints: Sequence[str]) -> str:
    return "".join([f"{HEADING}\n", *(f"- {said}\n" for said in constraints)]) if constraints else ""


def body(text: str) -> str:
    """A profile's text without its constraints, which stand at its top."""
    if not text.startswith(HEADING):
        return text
    lines = text.splitlines(keepends=True)
    at = next((i for i, line in enumerate(lines[1:], 1) if not line.startswith("- ")), len(lines))
    return "".join(lines[at:])


def room_of(state: Profile, count: Count) -> int:
    """Tokens left beside the constraints. Raises InputError where that is nothing."""
    room = state.budget - count(heading(state.constraints))
    if room < 20:
        raise InputError(
            f"the budget of {state.budget} tokens leaves {max(room, 0)} beside the constraints of {state.user!r}: "
            "raise it or drop a constraint"
        )
    return room


def constraints_of(said: Sequence[str]) -> list[Constraint]:
    return [Constraint.read(one) for one in said]


def _fitting(head: str, lines: Sequence[str], budget: int, count: Count) -> list[str]:
    """The longest beginning within the budget, by bisection: tokenizers need not be additive."""

    def tokens(n: int) -> int:
        return count(head + "\n".join(lines[:n]) + "\n")

    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens(middle) <= budget else (low, middle - 1)
    return list(lines[:low])


def folded(folding: Folding, state: Profile, chunks: Iterator[Chunk]) -> Iterator[Profile]:
    """A version after each chunk."""
    for chunk in chunks:
        state = folding.fold(state, chunk)
        yield state
