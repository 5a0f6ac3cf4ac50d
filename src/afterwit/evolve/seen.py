"""The cards that episodes saw, in the very versions."""

from collections.abc import Sequence

from afterwit.model import Card, Episode
from afterwit.ports import Store


def cards_seen(store: Store, episodes: Sequence[Episode], *, bank: str | None = None) -> dict[str, list[Card]]:
    """Episode id → cards it was shown, of one bank or of all; withheld ones are left out."""
    wanted = {
        e.id: {(r.card_id, r.version) for r in e.recalled if bank in (None, r.bank) and not r.withheld}
        for e in episodes
    }
    every = {key for keys in wanted.values() for key in keys}
    if not every:
        return {id_: [] for id_ in wanted}
    written = (edit for scope in {e.scope for e in episodes} for edit in store.edits(scope, bank=bank))
    cards = {(c.id, c.version): c for edit in written for c in edit.writes if (c.id, c.version) in every}
    return {id_: [cards[key] for key in sorted(keys) if key in cards] for id_, keys in wanted.items()}
