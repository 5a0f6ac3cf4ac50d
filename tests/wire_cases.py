"""A real HTTP server on a loopback port that behaves, or misbehaves, as told."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Act = Callable[[BaseHTTPRequestHandler], None]
"""Answers one request."""


@dataclass
class Wire:
    """bodies, paths, headers: of the requests, in order of arrival."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def serving(*acts: Act) -> Iterator[Wire]:
    """Request after request gets its act; the last act serves all that follow."""
    wire = Wire()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                act = acts[min(len(wire.bodies), len(acts) - 1)]
                wire.bodies.append(body)
                wire.paths.append(self.path)
                wire.headers.append({key.casefold(): value for key, value in self.headers.items()})
            self.body = body
            act(self)

        def log_message(self, *_: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            pass  # a client that hangs up is part of the play

    server = Quiet(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    wire.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield wire
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def says(value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Act:
    """A JSON answer; the client is told to try again at once where it would wait."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()

    def act(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        for name, text in {"retry-after-ms": "1", **(headers or {})}.items():
            handler.send_header(name, text)
        handler.end_headers()
        handler.wfile.write(data)

    return act


def refuses(status: int, message: str, **more: Any) -> Act:
    return says(
        {"type": "error", "error": {"type": "invalid_request_error", "message": message, **more}}, status=status
    )


def hangs_up(handler: BaseHTTPRequestHandler) -> None:
    """Closes the connection without a word."""
    handler.close_connection = True


def breaks_off(handler: BaseHTTPRequestHandler) -> None:
    """Promises more than it sends."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [{"index": 0, "mess')


def drips(handler: BaseHTTPRequestHandler) -> None:
    """Sends blanks for as long as somebody listens, as endpoints do that keep a connection alive."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    gone = threading.Event()
    while not gone.wait(0.01):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def is_silent(handler: BaseHTTPRequestHandler) -> None:
    """Reads the request and says nothing until the client hangs up."""
    handler.connection.recv(1)
