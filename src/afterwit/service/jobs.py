"""Long work that outlives its request and its process: DBOS keeps what was asked, what is done and what remains.

A job that a killed process leaves behind goes on when the service starts again. Its steps may then run twice; reading a
log is idempotent, and a round is recognised by the moment and the bank version that its first step wrote down. Texts
never enter the database of jobs: only names, moments and counts.
"""

import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from afterwit.errors import AfterwitError, MissingExtra, NotFound
from afterwit.model import content_hash
from afterwit.ports import Progress

State = Literal["waiting", "running", "done", "failed", "cancelled"]


@dataclass(frozen=True, kw_only=True)
class Asked:
    id: str
    kind: str
    scope: str
    arguments: dict[str, Any]


class Work(Protocol):
    """What a service does for its jobs."""

    def begin(self, job: Asked) -> dict[str, Any]:
        """Before the work: what is written down and given to every attempt."""

    def work(self, job: Asked, begun: dict[str, Any], progress: Progress) -> dict[str, Any]:
        """Counts and ids. Raises AfterwitError."""


_QUEUE = "afterwit"
_STATES: dict[str, State] = {
    "ENQUEUED": "waiting",
    "DELAYED": "waiting",
    "PENDING": "running",
    "SUCCESS": "done",
    "ERROR": "failed",
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": "failed",
    "CANCELLED": "cancelled",
}


@dataclass(frozen=True, kw_only=True)
class Job:
    """kind: ingest or evolve. done, total: progress, where known. result: counts and ids. error: one line."""

    id: str
    kind: str
    scope: str
    state: State
    at: datetime
    done: int | None = None
    total: int | None = None
    result: dict[str, Any] | None = None
    error: str | None = None


class JobFailed(Exception):
    """What DBOS keeps of a job that failed: a line, never a traceback with values."""


class Jobs:
    """One in a process, as DBOS is. url: of its database. executor: whose jobs to take up at the start; processes that
    run at once need one each."""

    def __init__(self, url: str, work: Work, *, executor: str = "afterwit") -> None:
        global _work
        try:
            from dbos import DBOS
        except ImportError:
            raise MissingExtra("dbos", "server") from None
        self._dbos = DBOS
        _define(DBOS)
        _work = work
        DBOS(
            config={
                "name": "afterwit",
                "system_database_url": url,
                "application_version": "1",  # of how jobs are written down, not of the program
                "executor_id": executor,
                "log_level": "CRITICAL",  # a failed job says so itself, without a traceback,
            }
        )
        DBOS.launch()
        DBOS.register_queue(_QUEUE, worker_concurrency=2, polling_interval_sec=0.2)

    def start(self, scope: str, kind: str, arguments: dict[str, Any], *, job_id: str) -> Job:
        """The same id again is the same job."""
        from dbos import SetWorkflowID

        with SetWorkflowID(_name(scope, job_id)):
            asked = {"id": job_id, "kind": kind, "scope": scope, "arguments": arguments}
            self._dbos.enqueue_workflow(_QUEUE, _defined["job"], asked)
        return self.get(scope, job_id)

    def get(self, scope: str, job_id: str) -> Job:
        """Raises NotFound."""
        found = self._dbos.list_workflows(workflow_ids=[_name(scope, job_id)])
        if not found:
            raise NotFound(f"there is no job {job_id} in scope {scope!r}")
        return self._job(scope, found[0])

    def list(self, scope: str, *, limit: int = 50, offset: int = 0) -> tuple[Job, ...]:
        """Newest first."""
        found = self._dbos.list_workflows(
            workflow_id_prefix=_name(scope, ""), limit=limit, offset=offset, sort_desc=True
        )
        return tuple(self._job(scope, one) for one in found)

    def close(self, *, wait: float = 10) -> None:
        """Lets running jobs end for ``wait`` seconds; what has not by then goes on at the next start."""
        self._dbos.destroy(workflow_completion_timeout_sec=int(wait))

    def _job(self, scope: str, status: Any) -> Job:
        progress = self._dbos.get_event(status.workflow_id, "progress", timeout_seconds=0) or [None, None]
        state = _STATES.get(status.status, "waiting")
        return Job(
            id=status.workflow_id.partition("-")[2],
            kind=status.input["args"][0]["kind"],
            scope=scope,
            state=state,
            at=datetime.fromtimestamp(status.created_at / 1000, UTC),
            done=progress[0],
            total=progress[1],
            result=status.output if state == "done" else None,
            error=str(status.error) if status.error else None,
        )


def _name(scope: str, job_id: str) -> str:
    """Jobs of a scope share a prefix, and no other scope's id leads to them."""
    return f"{content_hash(scope)[:24]}-{job_id}"


_lock = threading.Lock()
_defined: dict[str, Any] = {}
_work: Work | None = None


def _define(dbos: Any) -> None:
    """DBOS finds workflows again by their name, so they are defined once a process, when it is first needed."""
    with _lock:
        if _defined:
            return

        @dbos.step(name="begin")
        def begin(asked: dict[str, Any]) -> dict[str, Any]:
            assert _work is not None
            return _work.begin(Asked(**asked))

        @dbos.step(name="work")
        def work(asked: dict[str, Any], begun: dict[str, Any]) -> dict[str, Any]:
            assert _work is not None

            def progress(done: int, total: int | None) -> None:
                dbos.set_event("progress", [done, total])

            try:
                return _work.work(Asked(**asked), begun, progress)
            except AfterwitError as error:
                raise JobFailed(str(error)) from None

        @dbos.workflow(name="job")
        def job(asked: dict[str, Any]) -> Any:
            return work(asked, begin(asked))

        _defined["job"] = job
