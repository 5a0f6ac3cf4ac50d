"""The bank: cards, their history, by hand."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from afterwit.model import Card
from afterwit.server import bodies
from afterwit.server.access import Evolves, Recalls
from afterwit.server.again import OnceRoute

routes = APIRouter(prefix="/v1", tags=["cards"], route_class=OnceRoute)
Moment = Annotated[AwareDatetime | None, Query(description="With its zone, as 2026-05-01T00:00:00Z.")]


@routes.get("/cards")
def cards(granted: Recalls, bank: bodies.BankName = "content", as_of: Moment = None) -> bodies.CardList:
    """The live cards of a bank, now or at a moment."""
    memory = granted.memory
    found = memory.cards(bank=bank, as_of=as_of)
    return bodies.CardList(bank=bank, capacity=memory.settings(bank=bank).capacity, items=list(found))


@routes.post("/cards", status_code=201)
def add(granted: Evolves, body: bodies.Added) -> Card:
    """A card by hand. The same text again is the same card; a full bank refuses it."""
    return granted.memory.add(**body.model_dump())


@routes.get("/cards/{card_id}")
def card(granted: Recalls, card_id: bodies.Id) -> bodies.CardHistory:
    """The latest version, retired or not, and every edit that wrote it."""
    memory = granted.memory
    return bodies.CardHistory(card=memory.get(card_id), history=list(memory.history(card_id)))


@routes.patch("/cards/{card_id}")
def update(granted: Evolves, card_id: bodies.Id, body: bodies.Reworded) -> Card:
    """Other words: a new version, without the evidence of the old ones."""
    return granted.memory.update(card_id, body.guidance)


@routes.delete("/cards/{card_id}", status_code=204)
def delete(granted: Evolves, card_id: bodies.Id) -> None:
    """Retires it; the history stays. To erase its text, use /v1/forget."""
    granted.memory.delete(card_id)


@routes.get("/diff")
def diff(
    granted: Recalls, before: AwareDatetime, after: Moment = None, bank: bodies.BankName = "content"
) -> bodies.Difference:
    """What changed in a bank between two moments."""
    found = granted.memory.diff(before, after, bank=bank)
    return bodies.Difference.model_validate(found, from_attributes=True)
