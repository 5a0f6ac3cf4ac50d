"""Spans and metrics through OpenTelemetry's API: silent until the user installs an SDK. All names stand here, since the
conventions for generative AI are still moving."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry import metrics, trace

_tracer = trace.get_tracer("afterwit")
_meter = metrics.get_meter("afterwit")
_duration = _meter.create_histogram(
    "http.server.request.duration", unit="s", description="Requests by route and status"
)
_recalled = _meter.create_counter("afterwit.recall.cards", unit="{card}", description="Cards given to agents")


class RequestSpan:
    def __init__(self, span: Any, method: str) -> None:
        self._span = span
        self._method = method
        self._start = time.perf_counter()

    def end(self, status: int, route: str) -> None:
        named: dict[str, str | int] = {
            "http.request.method": self._method,
            "http.route": route,
            "http.response.status_code": status,
        }
        self._span.update_name(f"{self._method} {route}")
        self._span.set_attributes(named)
        _duration.record(time.perf_counter() - self._start, named)


@contextmanager
def request_span(method: str, path: str) -> Iterator[RequestSpan]:
    with _tracer.start_as_current_span(method, kind=trace.SpanKind.SERVER) as span:
        yield RequestSpan(span, method)


@contextmanager
def recall_span(scope: str, bank: str) -> Iterator[list[Any]]:
    """A retrieval from a memory; what is put into the list are the cards that it gave. No text leaves this way."""
    found: list[Any] = []
    named = {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": f"{scope}/{bank}"}
    with _tracer.start_as_current_span(f"retrieval {bank}", attributes=named) as span:
        yield found
        span.set_attribute("gen_ai.retrieval.documents.count", len(found))
        _recalled.add(len(found), {"bank": bank})
