"""Commands that change the bank through evidence: init, settings, ingest, evolve, approve, rollback."""

from typing import Annotated, Any

import typer

from afterwit.cli import screen
from afterwit.errors import InputError
from afterwit.model import Card, Round


def init(
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    bank: screen.BankName = "content",
    capacity: screen.KeptCapacity = None,
    objective: screen.Objective = None,
    vocabulary: screen.Vocabulary = None,
    meaning: screen.Meaning = None,
    as_json: screen.AsJson = False,
) -> None:
    """Make a memory, or a new scope in one, and what it is run with from now on."""
    given: dict[str, Any] = {"capacity": capacity, "objective": objective, "vocabulary": vocabulary, "meaning": meaning}
    with screen.open_memory(store, scope, create=True, bank=bank, **given):
        pass
    if as_json:
        screen.print_json({"store": store, "scope": scope})
    else:
        print(f"scope {scope} is ready in {store}")


def evolve(
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    bank: screen.BankName = "content",
    capacity: screen.KeptCapacity = None,
    objective: screen.Objective = None,
    vocabulary: screen.Vocabulary = None,
    meaning: screen.Meaning = None,
    as_of: Annotated[str | None, typer.Option(help="Use only what was known at this time.")] = None,
    final: Annotated[bool, typer.Option(help="Spend the open tests, as before a freeze.")] = False,
    dry_run: Annotated[bool, typer.Option(help="Plan the round and change nothing.")] = False,
    approval: Annotated[bool, typer.Option(help="Store the round as proposed, for 'afterwit approve'.")] = False,
    as_json: screen.AsJson = False,
) -> None:
    """One round: work out the credit, then edit the bank."""
    given: dict[str, Any] = {"capacity": capacity, "objective": objective, "vocabulary": vocabulary, "meaning": meaning}
    with screen.open_memory(store, scope, bank=bank, keep=not dry_run, **given) as memory:
        for notice in memory.notices(bank=bank):
            screen.warn(notice)
        round_ = memory.evolve(bank=bank, as_of=screen.moment(as_of), final=final, dry_run=dry_run, approval=approval)
    _tell(round_, as_json)


def approve(
    round_id: Annotated[str, typer.Argument(help="Its id, or the end of it as `log` shows it.")],
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    capacity: screen.KeptCapacity = None,
    reject: Annotated[bool, typer.Option("--reject", help="Reject it instead.")] = False,
    as_json: screen.AsJson = False,
) -> None:
    """Apply a proposed round, or reject it."""
    with screen.open_memory(store, scope, capacity=capacity) as memory:
        round_id = screen.whole(round_id, (r.id for r in memory.rounds()))
        _tell(memory.approve(round_id, reject=reject), as_json)


def rollback(
    to: Annotated[str, typer.Option(help="The moment whose bank should stand again.")],
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    bank: screen.BankName = "content",
    capacity: screen.KeptCapacity = None,
    as_json: screen.AsJson = False,
) -> None:
    """Put the bank back to an earlier moment, as a new round."""
    moment = screen.moment(to)
    if moment is None:
        raise InputError("--to needs a date or time")
    with screen.open_memory(store, scope, bank=bank, capacity=capacity) as memory:
        _tell(memory.rollback(to=moment, bank=bank), as_json)


def _done(operator: str, card: Card) -> str:
    """Going back retires what came since, by the same edit that restores what was."""
    return "retire" if operator == "restore" and not card.live else operator


def _tell(round_: Round, as_json: bool) -> None:
    if as_json:
        screen.print_json(round_)
        return
    screen.say(f"{round_.status} {screen.short(round_.id)}: {round_.summary()}")
    rows = [
        (_done(edit.operator, card), card.guidance, f"{card.effect:+.3f}", edit.reason)
        for edit in round_.edits
        if edit.operator != "reinforce"
        for card in (edit.writes if edit.operator == "restore" else edit.writes[:1])
    ]
    if rows:
        screen.table("Edits", ("operator", "card", "effect", "why"), rows[:40])
    if round_.waiting:
        named = {card.id: card.guidance for edit in round_.edits for card in edit.writes}
        waiting = [(named.get(row.card_id, screen.short(row.card_id)), str(row)) for row in round_.waiting[:15]]
        screen.table("On trial", ("card", "confirmed after"), waiting)
    if round_.refused:
        refused = [(r.subject, r.verdict, r.reason) for r in round_.refused[:15]]
        screen.table("Left as they are", ("what", "verdict", "why"), refused)
