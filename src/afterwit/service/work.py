"""What jobs do: read a log, run a round."""

from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from afterwit.errors import Conflict, InputError
from afterwit.model import Round
from afterwit.ports import Progress
from afterwit.service.jobs import Asked
from afterwit.service.spool import Spool
from afterwit.service.tenants import Tenants

_ATTEMPTS = 3


@dataclass(frozen=True, kw_only=True)
class ServiceWork:
    tenants: Tenants
    spool: Spool

    def begin(self, job: Asked) -> dict[str, Any]:
        """For a round: the moment it is of, and the bank's version, by which a second attempt knows it again."""
        if job.kind != "evolve":
            return {}
        memory = self.tenants.memory(job.scope)
        newest = memory.rounds(bank=job.arguments["bank"], limit=1)
        return {
            "as_of": job.arguments.get("as_of") or self.tenants.place.clock().isoformat(),
            "after": newest[0].id if newest else None,
        }

    def work(self, job: Asked, begun: dict[str, Any], progress: Progress) -> dict[str, Any]:
        if job.kind == "ingest":
            return self._ingest(job, progress)
        if job.kind == "evolve":
            return self._evolve(job, begun)
        raise InputError(f"there is no job of kind {job.kind!r}")

    def _ingest(self, job: Asked, progress: Progress) -> dict[str, Any]:
        path = self.spool.log(job.scope, job.id, job.arguments["format"])
        if not path.exists():
            raise InputError("the log is gone: something was forgotten while it waited; send it again")
        rejects = self.spool.rejects(job.scope, job.id)
        rejects.unlink(missing_ok=True)  # of an earlier attempt
        try:
            report = self.tenants.memory(job.scope).ingest(
                path,
                mapping=job.arguments.get("mapping"),
                timezone=job.arguments.get("timezone"),
                rejects=rejects,
                progress=progress,
            )
        except InputError as error:
            path.unlink(missing_ok=True)
            raise InputError(str(error).replace(str(path), "the log")) from None  # where it lies is nobody's business
        path.unlink(missing_ok=True)
        return {name: value for name, value in asdict(report).items() if not isinstance(value, Path | None)}

    def _evolve(self, job: Asked, begun: dict[str, Any]) -> dict[str, Any]:
        memory = self.tenants.memory(job.scope)
        as_of = datetime.fromisoformat(begun["as_of"])
        bank = job.arguments["bank"]
        for made in memory.rounds(bank=bank, limit=50):
            if made.id == begun["after"]:
                break
            if made.as_of == as_of:  # an earlier attempt got this far
                return _told(made)
        for attempt in range(_ATTEMPTS):
            try:
                done = memory.evolve(
                    bank=bank,
                    as_of=as_of,
                    final=bool(job.arguments.get("final")),
                    approval=bool(job.arguments.get("approval")),
                )
            except Conflict:  # the bank moved while the round was planned
                if attempt == _ATTEMPTS - 1:
                    raise
            else:
                return _told(done)
        raise AssertionError


def _told(done: Round) -> dict[str, Any]:
    return {"round": done.id, "status": done.status, "edits": len(done.edits)}
