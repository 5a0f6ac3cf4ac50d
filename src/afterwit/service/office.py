"""A service while it is open: all that REST, MCP and the page share."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from afterwit.compose.service import ServiceParts, open_service
from afterwit.errors import StoreError
from afterwit.ports import Clock, Embedder
from afterwit.service.jobs import Jobs
from afterwit.service.keyring import Caller, Keyring
from afterwit.service.limits import Rates
from afterwit.service.spool import Spool
from afterwit.service.tenants import Tenants
from afterwit.service.work import ServiceWork


@dataclass(frozen=True, kw_only=True)
class Limits:
    """body, log: bytes of a request, and of a delivery log. rate, burst: of one caller, see `Rates`."""

    body: int = 1_000_000
    log: int = 100_000_000
    rate: float = 100.0
    burst: float = 200.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Office:
    """jobs: None where nothing long is done here, as over MCP on stdio."""

    parts: ServiceParts
    tenants: Tenants
    keyring: Keyring
    rates: Rates
    spool: Spool
    jobs: Jobs | None
    limits: Limits = field(default_factory=Limits)

    @classmethod
    def open(
        cls,
        url: str | Path,
        *,
        limits: Limits = Limits(),
        keys_required: bool = False,
        executor: str | None = "afterwit",
        embedder: Embedder | None = None,
        clock: Clock | None = None,
    ) -> Self:
        """executor: see `Jobs`; None for no jobs. Raises StoreError, InputError, MissingExtra."""
        parts = open_service(url, embedder=embedder, clock=clock)
        tenants, spool = Tenants(parts.place), Spool(folder=parts.spool)
        try:
            work = ServiceWork(tenants=tenants, spool=spool)
            jobs = Jobs(parts.jobs, work, executor=executor) if executor else None
        except BaseException:
            parts.place.close()
            raise
        return cls(
            parts=parts,
            tenants=tenants,
            keyring=Keyring(keys=parts.keys, clock=parts.place.clock, required=keys_required),
            rates=Rates(rate=limits.rate, burst=limits.burst),
            spool=spool,
            jobs=jobs,
            limits=limits,
        )

    def caller(self, token: str | None) -> Caller:
        """Raises AccessDenied, RateLimited."""
        found = self.keyring.caller(token)
        self.rates.take(found.id, time.monotonic())
        return found

    def ready(self) -> bool:
        """Whether the database answers."""
        try:
            self.parts.keys.find("")
        except StoreError:
            return False
        return True

    def close(self) -> None:
        if self.jobs:
            self.jobs.close()
        self.parts.place.close()
