"""The command that lists corrections and settles them."""

from typing import Annotated

import typer

from afterwit.cli import screen
from afterwit.errors import InputError


def conflicts(
    keep: Annotated[str | None, typer.Option("--keep", help="Retire what contradicts this card.")] = None,
    beside: Annotated[str | None, typer.Option("--beside", help="This card and what contradicts it are right.")] = None,
    narrow: Annotated[str | None, typer.Option("--narrow", help="This card holds with --when alone.")] = None,
    when: Annotated[str | None, typer.Option("--when", help="Where it holds, as 'channel = push'.")] = None,
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    bank: screen.BankName = "content",
    as_json: screen.AsJson = False,
) -> None:
    """Cards by hand that say different things of one task: list the pairs, or settle those of one card."""
    if (narrow is None) != (when is None) or sum(given is not None for given in (keep, beside, narrow)) > 1:
        raise InputError("give one of --keep ID, --beside ID, or --narrow ID with --when CONDITION")
    with screen.open_memory(store, scope) as memory:
        given = keep or beside or narrow
        if given is not None:
            card_id = screen.whole(given, (card.id for card in memory.cards(bank=bank)))
            pairs = [(pair.newer.id, pair.older.id) for pair in memory.conflicts(bank=bank)]
            others = [one if other == card_id else other for one, other in pairs if card_id in (one, other)]
            if narrow is not None:
                memory.narrow(card_id, when)
            elif not others:
                raise InputError(f"no card contradicts {given}: see 'afterwit conflicts'")
            for other in others if narrow is None else ():
                if keep is not None:
                    memory.delete(other)
                else:
                    memory.settle(card_id, other)
        found = memory.conflicts(bank=bank)
    if as_json:
        screen.print_json(found)
    elif not found:
        print("nothing to settle")
    else:
        rows = [(p.newer.guidance, screen.short(p.newer.id), p.older.guidance, screen.short(p.older.id)) for p in found]
        screen.table(f"{len(found)} to settle", ("newer", "id", "older", "id"), rows)
        print("Settle with --keep ID, --beside ID (both are right), or --narrow ID --when CONDITION.")
