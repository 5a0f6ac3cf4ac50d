"""Recall, record, look at episodes."""

from typing import Annotated

from fastapi import APIRouter, Query

from afterwit.errors import Conflict, InputError, NotFound
from afterwit.memory import Memory
from afterwit.model import Episode
from afterwit.record.recorder import EpisodeRecorder
from afterwit.server import bodies
from afterwit.server.access import Recalls, Records
from afterwit.server.again import OnceRoute
from afterwit.server.telemetry import recall_span

routes = APIRouter(prefix="/v1", tags=["serving"], route_class=OnceRoute)
Limit = Annotated[int, Query(ge=1, le=200)]
Before = Annotated[str | None, Query(max_length=200, description="The `next` of the page before.")]


@routes.post("/search")
def search(granted: Recalls, body: bodies.Search) -> bodies.Notes:
    """What a recall would give, leaving no trace."""
    memory = granted.memory
    with recall_span(granted.scope, body.bank) as seen:
        found = memory.search(
            body.query, context=body.context, bank=body.bank, k=body.k, candidates=tuple(body.candidates)
        )
        seen.extend(found)
    cards = [bodies.Found(card=card, recalled=trace) for card, trace in found]
    return bodies.Notes(cards=cards, notes=memory.render([card for card, _ in found]))


@routes.post("/recall")
def recall(granted: Recalls, body: bodies.Recall) -> bodies.Recalls:
    """The cards for a task, recorded with rank and score. Opens an episode, or continues an open one; record what
    became of it with PUT /v1/episodes/{id}."""
    memory = granted.memory
    episode = memory.resume(body.episode) if body.episode is not None else _fresh(granted, memory, body)
    with recall_span(granted.scope, body.bank) as seen:
        cards = episode.recall(bank=body.bank, k=body.k, query=body.query, explore=body.explore)
        seen.extend(cards)
    traces = {trace.card_id: trace for trace in episode.keep().recalled if not trace.withheld}
    found = [bodies.Found(card=card, recalled=traces[card.id]) for card in cards]
    return bodies.Recalls(episode=episode.id, cards=found, notes=memory.render(cards))


@routes.put("/episodes/{episode_id}")
def record(granted: Records, episode_id: str, body: bodies.Record) -> Episode:
    """What became of an episode, whole: decisions and the cards that caused them, plan, steps, output, deliveries, the
    verdict. Closes it. The same record again is no error."""
    memory = granted.memory
    try:
        known = memory.recorded(episode_id)
    except NotFound:
        if not body.task:
            raise InputError(f"episode {episode_id} is new: a record of it needs a task") from None
        episode = memory.episode(body.task, context=body.context, candidates=tuple(body.candidates), id=episode_id)
    else:
        if known.ended_at is not None:
            return _same(known, body)
        episode = memory.resume(episode_id)
    _fill(episode, body)
    return episode.close()


@routes.get("/episodes")
def episodes(granted: Recalls, limit: Limit = 50, before: Before = None) -> bodies.Episodes:
    """Newest first."""
    found = granted.memory.episodes(limit=limit, before=before)
    return bodies.Episodes(items=list(found), next=found[-1].id if len(found) == limit else None)


@routes.get("/episodes/{episode_id}")
def episode(granted: Recalls, episode_id: bodies.Id) -> Episode:
    return granted.memory.recorded(episode_id)


def _fresh(granted: Recalls, memory: Memory, body: bodies.Recall) -> EpisodeRecorder:
    """A new episode; the one that this request made, where it comes again after a failure."""
    id_ = granted.new_id()
    if granted.request_key is not None:
        try:
            return memory.resume(id_)
        except NotFound:
            pass
    return memory.episode(body.task, context=body.context, candidates=tuple(body.candidates), id=id_)


def _fill(episode: EpisodeRecorder, body: bodies.Record) -> None:
    for decided in body.decisions:
        episode.decide(decided.name, decided.value, because=decided.because)
    if body.plan is not None:
        episode.plan(body.plan, because=body.plan_because)
    for step in body.steps:
        episode.step(step.tool, step.arguments, result=step.result, error=step.error, because=step.because)
    if body.output is not None:
        episode.output(body.output)
    for delivery in body.deliveries:
        episode.deliver(delivery.id, **delivery.model_dump(exclude={"id"}))
    if body.success is not None or body.feedback is not None:
        episode.finish(success=body.success, feedback=body.feedback)


def _same(known: Episode, body: bodies.Record) -> Episode:
    """Raises Conflict where what was recorded says otherwise."""
    said = (body.output, body.success, body.feedback, body.plan, tuple(d.id for d in body.deliveries))
    kept = (known.output, known.success, known.feedback, known.plan, known.delivery_ids)
    declared = [(d.name, d.value) for d in known.decisions]
    if said != kept or [(d.name, d.value) for d in body.decisions] != declared:
        raise Conflict(f"episode {known.id} is closed and differs from this one: record it under a new id")
    return known
