"""Whatever the OpenAPI document allows, and what it does not, is answered without a failure of the service."""

import time
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.generation import GenerationMode

from afterwit.ports import HashEmbedder
from afterwit.server.app import build
from afterwit.service.office import Office
from server_cases import ROOMY, key

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_no_request_makes_the_service_fail(tmp_path: Path) -> None:
    office = Office.open(tmp_path / "memory.db", limits=ROOMY, embedder=HashEmbedder())
    office.tenants.make("s").add("Ask a question first.", key="push")
    schema = schemathesis.openapi.from_asgi("/openapi.json", build(office, local=False))
    headers = key(office, scopes=["*"])  # else the first key that is made shuts everybody out
    failures: dict[str, str] = {}
    asked = 0
    answered: set[int] = set()

    def ask(case: schemathesis.Case) -> None:
        nonlocal asked
        asked += 1
        if case.operation.path.startswith("/v1"):
            case.query = {**(case.query or {}), "scope": "s"}
        answer = case.call(headers=headers)
        answered.add(answer.status_code)
        declared = case.operation.definition.raw["responses"]
        if answer.status_code >= 500 or str(answer.status_code) not in declared:
            failures[f"{case.operation.label} → {answer.status_code}"] = case.as_curl_command()

    for found in schema.get_all_operations():
        operation = found.ok()
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            try:
                strategy = operation.as_strategy(generation_mode=mode)
                run = settings(
                    max_examples=8,
                    deadline=None,
                    derandomize=True,
                    database=None,
                    suppress_health_check=list(HealthCheck),
                )
                run(given(strategy)(ask))()
            except (schemathesis.errors.SchemathesisError, Unsatisfiable):
                continue  # nothing of an operation without parameters can be negated
    assert office.jobs
    until = time.monotonic() + 60  # DuckDB ends the process where a thread is still in it
    while any(job.state in ("waiting", "running") for job in office.jobs.list("s", limit=200)):
        assert time.monotonic() < until
        time.sleep(0.1)
    office.close()
    assert failures == {}
    assert asked > 300
    assert answered >= {200, 201, 202, 404, 422}
