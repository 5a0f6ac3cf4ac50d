"""The command that adds cards by hand."""

from pathlib import Path
from typing import Annotated

import typer

from afterwit.cli import screen
from afterwit.errors import InputError


def add(
    path: Annotated[
        Path | None, typer.Argument(help="JSON Lines, CSV, or a Markdown list.", show_default=False)
    ] = None,
    guidance: Annotated[str | None, typer.Option("--guidance", help="One card's text, in place of a file.")] = None,
    key: Annotated[str | None, typer.Option("--key", help="The task that it is for.")] = None,
    when: Annotated[str | None, typer.Option("--when", help="Where it applies, as 'channel = push'.")] = None,
    prefer: Annotated[str | None, typer.Option("--prefer", help="A decision that it is for, as hook=question.")] = None,
    avoid: Annotated[str | None, typer.Option("--avoid", help="A decision that it is against.")] = None,
    topic: Annotated[str | None, typer.Option("--topic", help="The newest card on a topic retires the older.")] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="In a full bank, retire the least useful card by hand for it.")
    ] = False,
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    bank: screen.BankName = "content",
    as_json: screen.AsJson = False,
) -> None:
    """Add cards by hand, all of a file or none. What is there already is not added again."""
    from afterwit.model import Condition, Note
    from afterwit.record.notes import read_notes  # heavy, and `--help` does without it

    if (path is None) == (guidance is None):
        raise InputError("give a file of notes, or one with --guidance")
    if path is not None:
        notes = read_notes(path)
    else:
        condition = Condition.of(when)
        one = Note(guidance=guidance or "", key=key, when=condition, prefer=prefer, avoid=avoid, topic=topic)
        notes = (one,)
    with screen.open_memory(store, scope) as memory:
        found = memory.add_many(notes, bank=bank, replace=replace)
    if as_json:
        screen.print_json(found)
        return
    new = [added.card for added in found if added.new]
    print(f"{len(new)} added, {len(found) - len(new)} there already")
    known = [(added.card.guidance, screen.short(added.card.id)) for added in found if not added.new]
    if known:
        screen.table("There already", ("card", "id"), known[:20])
