"""Outcomes, a few at once or a whole log; rounds, jobs."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from afterwit.errors import InputError
from afterwit.model import Round
from afterwit.ports import system_clock
from afterwit.server import bodies
from afterwit.server.access import Approves, Evolves, Granted, Recalls, Records
from afterwit.server.again import OnceRoute
from afterwit.server.routes.serving import Before, Limit
from afterwit.service import outcomes as told
from afterwit.service.jobs import Job, Jobs

routes = APIRouter(prefix="/v1", tags=["outcomes and rounds"], route_class=OnceRoute)
streams = APIRouter(prefix="/v1", tags=["outcomes and rounds"])


@routes.post("/outcomes")
def outcomes(granted: Records, body: bodies.Outcomes) -> bodies.Ingested:
    """Clicks, conversions, complaints: what the world did with a delivery. Late and out of order is fine, and sending
    the same again counts once. Many at once cost little more than one; whole logs go to /v1/logs."""
    now = granted.office.parts.place.clock()
    said = [told.Outcome(**{**one.model_dump(), "at": one.at or now}) for one in body.outcomes]
    report = told.report(granted.memory, said)
    return bodies.Ingested.model_validate(report, from_attributes=True)


@streams.post("/logs", status_code=202)
async def logs(
    request: Request,
    granted: Records,
    format: Literal["jsonl", "csv", "parquet"] = "jsonl",
    mapping: Annotated[bodies.Bundled | None, Query(description="A bundled mapping of columns.")] = None,
    timezone: Annotated[str | None, Query(max_length=60, description="Of times that name none, as UTC.")] = None,
) -> Job:
    """A delivery log as the request's body, read by a job: follow it under /v1/jobs/{id}."""
    id_ = granted.new_id()
    path = granted.office.spool.log(granted.scope, id_, format)
    await run_in_threadpool(granted.require_scope)
    await granted.office.spool.save(path, request.stream())
    arguments = {"format": format, "mapping": mapping, "timezone": timezone}
    return await run_in_threadpool(_jobs(granted).start, granted.scope, "ingest", arguments, job_id=id_)


@routes.post("/rounds", status_code=202)
def evolve(granted: Evolves, body: bodies.Evolve) -> Job:
    """One round, by a job: credit, then edits, atomically. With `approval` it waits for /v1/rounds/{id}/approve."""
    granted.require_scope()
    arguments = body.model_dump(mode="json")
    return _jobs(granted).start(granted.scope, "evolve", arguments, job_id=granted.new_id())


@routes.post("/rounds/plan")
def plan(granted: Evolves, body: bodies.Evolve) -> Round:
    """The round as it would be now; changes nothing."""
    return granted.memory.evolve(bank=body.bank, as_of=body.as_of, final=body.final, dry_run=True)


@routes.get("/rounds")
def rounds(
    granted: Recalls, bank: bodies.BankName | None = None, limit: Limit = 50, before: Before = None
) -> bodies.Rounds:
    """Newest first, each edit with it."""
    found = granted.memory.rounds(bank=bank, limit=limit, before=before)
    return bodies.Rounds(items=list(found), next=found[-1].id if len(found) == limit else None)


@routes.get("/rounds/{round_id}")
def round(granted: Recalls, round_id: bodies.Id) -> Round:
    return granted.memory.round(round_id)


@routes.post("/rounds/{round_id}/approve")
def approve(granted: Approves, round_id: bodies.Id) -> Round:
    """Applies a proposed round; one that was planned on an older bank is refused."""
    return granted.memory.approve(round_id)


@routes.post("/rounds/{round_id}/reject")
def reject(granted: Approves, round_id: bodies.Id) -> Round:
    return granted.memory.approve(round_id, reject=True)


@routes.post("/rollback")
def rollback(granted: Approves, body: bodies.Rollback) -> Round:
    """Puts a bank back to what it was at a moment, as a new round: nothing of the history is lost."""
    if body.to > system_clock():
        raise InputError("a bank goes back to a moment of the past")
    return granted.memory.rollback(to=body.to, bank=body.bank)


@routes.get("/jobs")
def jobs(granted: Recalls, limit: Limit = 50) -> bodies.JobList:
    """Newest first."""
    granted.require_scope()
    return bodies.JobList(items=list(_jobs(granted).list(granted.scope, limit=limit)))


@routes.get("/jobs/{job_id}")
def job(granted: Recalls, job_id: bodies.Id) -> Job:
    return _jobs(granted).get(granted.scope, job_id)


@routes.get("/jobs/{job_id}/rejects", response_class=Response)
def rejects(granted: Records, job_id: bodies.Id) -> Response:
    """Rows that a log's job could not use, each with its reason, as JSON Lines."""
    _jobs(granted).get(granted.scope, job_id)
    return Response(granted.office.spool.read_rejects(granted.scope, job_id), media_type="application/x-ndjson")


def _jobs(granted: Granted) -> Jobs:
    if granted.office.jobs is None:
        raise InputError("this service runs no jobs")
    return granted.office.jobs
