"""Commands that keep a card whatever rounds find."""

from typing import Annotated

import typer

from afterwit.cli import screen

CardId = Annotated[str, typer.Argument(help="Its id, or the end of it as `cards` shows it.")]


def pin(
    card_id: CardId,
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    as_json: screen.AsJson = False,
) -> None:
    """Keep a card: no round retires it, whatever the evidence and however full the bank."""
    _pin(card_id, store, scope, as_json, pinned=True)


def unpin(
    card_id: CardId,
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    as_json: screen.AsJson = False,
) -> None:
    """Let rounds decide on a card again."""
    _pin(card_id, store, scope, as_json, pinned=False)


def _pin(card_id: str, store: str, scope: str, as_json: bool, *, pinned: bool) -> None:
    with screen.open_memory(store, scope) as memory:
        card_id = screen.whole(card_id, (c.id for name in screen.BANKS for c in memory.cards(bank=name)))
        card = memory.pin(card_id) if pinned else memory.unpin(card_id)
    if as_json:
        screen.print_json(card)
    else:
        print(f"{'pinned' if pinned else 'unpinned'}: {card.guidance}")
