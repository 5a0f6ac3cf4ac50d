"""The command that shows and changes what a bank is run with."""

from typing import Annotated, Any

import typer

from afterwit.cli import screen


def settings(
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    bank: screen.BankName = "content",
    capacity: screen.KeptCapacity = None,
    objective: screen.Objective = None,
    vocabulary: screen.Vocabulary = None,
    meaning: screen.Meaning = None,
    hand_share: Annotated[
        float | None, typer.Option("--hand-share", help="Share of the capacity kept for cards by hand.")
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="Every change, newest first.")] = False,
    as_json: screen.AsJson = False,
) -> None:
    """What a bank is run with; an option that is given changes it, for every later opening and command."""
    given: dict[str, Any] = {"capacity": capacity, "objective": objective, "vocabulary": vocabulary, "meaning": meaning}
    with screen.open_memory(store, scope) as memory:
        memory.configure(bank=bank, hand_share=hand_share, **given)
        kept, changes = memory.settings(bank=bank), memory.settings_history(bank=bank)
        notices = memory.notices(bank=bank)
    found: dict[str, Any] = {
        "bank": bank,
        "capacity": kept.capacity,
        "objective": kept.objective,
        "vocabulary": {"name": kept.vocabulary.name, "hash": kept.vocabulary.hash} if kept.vocabulary else None,
        "meaning": kept.meaning,
        "hand_share": kept.hand_share,
    }
    if as_json:
        told = [{"at": change.at, "reason": change.reason} for change in changes]
        screen.print_json({**found, "history": told, "notices": notices})
        return
    shown = {**found, "vocabulary": kept.vocabulary or "none", "meaning": "yes" if kept.meaning else "no"}
    screen.table("Settings", ("setting", "value"), list(shown.items()))
    if history:
        screen.table("Changes", ("at", "what"), [(f"{c.at:%Y-%m-%d %H:%M}", c.reason) for c in changes])
    for notice in notices:
        screen.warn(notice)
