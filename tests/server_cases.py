"""A service in this process, and what its callers send."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from afterwit.ports import Clock, HashEmbedder
from afterwit.server.app import build
from afterwit.service.office import Limits, Office

ROOMY = Limits(rate=1e6, burst=1e6)


@contextmanager
def service(
    url: str | Path, *, limits: Limits = ROOMY, clock: Clock | None = None
) -> Iterator[tuple[Office, TestClient]]:
    office = Office.open(url, limits=limits, embedder=HashEmbedder(), clock=clock)
    with TestClient(build(office), base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        yield office, client


def key(office: Office, *roles: str, scopes: Sequence[str] = ("acme/push",)) -> dict[str, str]:
    """Headers of a new key."""
    _, token = office.keyring.add(
        "test", scopes=scopes, roles=roles or ("recall", "record", "evolve", "approve", "admin")
    )
    return {"Authorization": f"Bearer {token}"}


def finished(client: TestClient, job: dict[str, Any], **named: Any) -> dict[str, Any]:
    """The job once it has ended."""
    until = time.monotonic() + 30
    while job["state"] in ("waiting", "running"):
        assert time.monotonic() < until, job
        time.sleep(0.05)
        job = client.get(f"/v1/jobs/{job['id']}", **named).json()
    return job
