"""What commands share: where the memory lies, tables for people, JSON for programs, a progress bar."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from afterwit.errors import InputError
from afterwit.model import Condition

if TYPE_CHECKING:
    from afterwit.memory import Memory
    from afterwit.ports import Progress as Report
    from afterwit.service.keyring import Keyring

_WORDS = {"card", "gate", "why", "what", "value", "when", "state", "field"}

console = Console()
errors = Console(stderr=True)

Store = Annotated[str, typer.Option("--store", envvar="AFTERWIT_STORE", help="A file or postgresql://….")]
Scope = Annotated[str, typer.Option("--scope", envvar="AFTERWIT_SCOPE", help="Tenant and agent, as acme/push.")]
BankName = Annotated[str, typer.Option("--bank", help="The bank of cards.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Capacity = Annotated[int, typer.Option("--capacity", help="How many live cards a bank may hold.")]
# Settings: what is left out is what the memory keeps.
KeptCapacity = Annotated[int | None, typer.Option("--capacity", help="How many live cards the bank may hold; kept.")]
Objective = Annotated[str | None, typer.Option("--objective", help="The kind of event that cards are for; kept.")]
Vocabulary = Annotated[
    str | None, typer.Option("--vocabulary", help="Named decisions in text, such as 'headlines', '' for none; kept.")
]
Meaning = Annotated[bool | None, typer.Option("--meaning/--no-meaning", help="Learn what texts are like; kept.")]
DEFAULT_STORE = "memory.db"
DEFAULT_SCOPE = "default"
BANKS = ("content", "planning", "execution")


def open_memory(
    store: str, scope: str, *, create: bool = False, bank: str = "content", keep: bool = True, **settings: Any
) -> "Memory":
    """settings: of the bank; what is None is what the memory keeps. keep: else they hold for this command alone."""
    from afterwit.memory import Memory  # heavy, and `--help` does without it

    if bank == "content":
        return Memory(store, scope=scope, create=create, keep=keep, **settings)
    memory = Memory(store, scope=scope, create=create)
    try:
        memory.configure(bank=bank, keep=keep, **settings)
    except BaseException:
        memory.close()
        raise
    return memory


@contextmanager
def open_keyring(store: str) -> "Iterator[Keyring]":
    from afterwit.compose.service import open_keys
    from afterwit.ports import system_clock
    from afterwit.service.keyring import Keyring

    keys, ledger = open_keys(store)
    try:
        yield Keyring(keys=keys, clock=system_clock)
    finally:
        ledger.close()


def moment(text: str | None) -> datetime | None:
    """A date or time with zone; a bare date is midnight UTC. Raises InputError."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"{text!r} is not a date or time: write it as 2026-05-01 or 2026-05-01T12:00+00:00") from None
    if found.tzinfo is None:
        if len(text) > len("2026-05-01"):
            raise InputError(f"{text!r} has no time zone: add one, such as {text}+00:00")
        return found.replace(tzinfo=UTC)
    return found


def context_of(pairs: Sequence[str]) -> dict[str, str]:
    """``field=value`` pairs. Raises InputError."""
    context = {}
    for pair in pairs:
        field, sign, value = pair.partition("=")
        if not sign or not field:
            raise InputError(f"context {pair!r} does not read as field=value")
        context[field.strip()] = value.strip()
    return context


def short(id_: str) -> str:
    """The end of an id, which is what tells ids apart; commands take it in place of the whole."""
    return id_[-12:]


def whole(given: str, known: Iterable[str]) -> str:
    """The known id that a shortened one ends; as given where none does. Raises InputError where several do."""
    found = sorted({id_ for id_ in known if id_ == given or (len(given) >= 6 and id_.endswith(given))})
    if len(found) > 1 and given not in found:
        raise InputError(f"{given!r} ends {len(found)} ids: give more of it")
    return found[0] if len(found) == 1 else given


def as_data(value: Any) -> Any:
    """Plain lists, dicts and strings of a frozen value."""
    if isinstance(value, Condition):
        return str(value)
    if is_dataclass(value):
        return {field.name: as_data(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(name): as_data(item) for name, item in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [as_data(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, Path) else value


def print_json(value: Any) -> None:
    print(json.dumps(as_data(value), ensure_ascii=False))


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    shown = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        # Words may wrap; ids and figures are copied and compared, so they stay in one piece.
        shown.add_column(column, no_wrap=column not in _WORDS, overflow="fold")
    for row in rows:
        shown.add_row(*(Text(str(cell)) for cell in row))
    console.print(shown)


def warn(text: str) -> None:
    """A line on stderr, so that what is printed for programs stays whole."""
    errors.print(Text(text))


def say(text: str) -> None:
    """A sentence or two, wrapped to the terminal."""
    console.print(Text(text))


@contextmanager
def progress_bar(label: str) -> "Iterator[Report]":
    """A bar on stderr, gone when done; nothing where stderr is not a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
