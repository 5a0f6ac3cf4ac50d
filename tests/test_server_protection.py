"""What a service refuses: callers without keys or roles, too much, other sites; and what it never tells."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from afterwit.service.office import Limits, Office
from server_cases import key, service

MINE, THEIRS = {"scope": "acme/push"}, {"scope": "rival/push"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Office, TestClient]]:
    with service(tmp_path / "memory.db") as (office, client):
        for scope in (MINE, THEIRS):
            client.put("/v1/scope", params=scope)
            client.post("/v1/cards", params=scope, json={"guidance": f"Secret of {scope['scope']}.", "key": "k"})
        yield office, client


def test_once_a_key_is_made_nobody_comes_in_without(served: tuple[Office, TestClient]) -> None:
    office, client = served
    assert client.get("/v1/cards", params=MINE).status_code == 200
    mine = key(office, "recall")
    paths = [path for path in client.get("/openapi.json").json()["paths"] if path.startswith("/v1")]
    assert len(paths) > 25
    for path in paths:
        for header in ({}, {"Authorization": "Bearer aw_x_y"}, {"Authorization": "Basic eDp5"}):
            for method in ("get", "post", "put", "patch", "delete"):
                answer = client.request(
                    method,
                    path.format_map(dict.fromkeys(("episode_id", "round_id", "job_id", "card_id", "key_id"), "x")),
                    params=MINE,
                    headers=header,
                )
                assert answer.status_code in (401, 405), (method, path)
    assert client.get("/v1/cards", params=MINE, headers=mine).status_code == 200
    assert client.get("/health").status_code == client.get("/ready").status_code == 200


def test_a_key_does_what_its_roles_say_and_no_more(served: tuple[Office, TestClient]) -> None:
    office, client = served
    asks = {
        "recall": ("post", "/v1/search", {"query": "q"}),
        "record": ("put", "/v1/episodes/e1", {"task": "t", "success": True}),
        "evolve": ("post", "/v1/rounds/plan", {"bank": "planning"}),
        "approve": ("post", "/v1/rollback", {"to": "2020-01-01T00:00:00Z", "bank": "other"}),
        "admin": ("post", "/v1/forget", {"card": "nobody"}),
    }
    for role in asks:
        headers = key(office, role)
        for needed, (method, path, body) in asks.items():
            answer = client.request(method, path, params=MINE, json=body, headers=headers)
            assert (answer.status_code == 403) == (needed != role), (role, needed, answer.text)


def test_what_is_anothers_is_told_as_what_is_not_there(served: tuple[Office, TestClient]) -> None:
    office, client = served
    card = client.get("/v1/cards", params=THEIRS).json()["items"][0]
    mine = {"headers": key(office)}
    foreign, absent = (client.get("/v1/cards", params={"scope": s}, **mine) for s in ("rival/push", "nobody/push"))
    assert foreign.status_code == absent.status_code == 404
    assert foreign.text.replace("rival", "X") == absent.text.replace("nobody", "X")
    assert client.get("/v1/scopes", **mine).json() == {"items": ["acme/push"]}
    known, unknown = (client.get(f"/v1/cards/{i}", params=MINE, **mine) for i in (card["id"], "0" * len(card["id"])))
    assert known.status_code == unknown.status_code == 404
    assert known.text.replace(card["id"], "X") == unknown.text.replace("0" * len(card["id"]), "X")
    for bad in ("acme/push/", "acme", "acme/pus", "ACME/PUSH", "*", "acme/*"):
        assert client.get("/v1/cards", params={"scope": bad}, **mine).status_code == 404


def test_requests_too_large_or_too_many_are_refused(tmp_path: Path) -> None:
    limits = Limits(body=2_000, log=5_000, rate=1, burst=5)
    with service(tmp_path / "memory.db", limits=limits) as (office, client):
        boss = key(office)
        client.put("/v1/scope", params=MINE, headers=boss)
        big = client.post("/v1/cards", params=MINE, json={"guidance": "x" * 3_000}, headers=boss)
        assert (big.status_code, big.headers["content-type"]) == (413, "application/problem+json")
        chunks = client.post("/v1/cards", params=MINE, content=(b"x" * 500 for _ in range(9)), headers=boss)
        assert chunks.status_code == 413
        streamed = client.post("/v1/logs", params=MINE, content=(b"x" * 999 for _ in range(9)), headers=boss)
        assert streamed.status_code == 413
        assert not list(tmp_path.rglob("*.partial"))
        answers = [client.get("/v1/cards", params=MINE, headers=boss) for _ in range(8)]
        assert answers[-1].status_code == 429
        assert int(answers[-1].headers["retry-after"]) >= 1
        assert client.get("/v1/cards", params=MINE, headers=key(office)).status_code == 200  # another caller


def test_other_sites_and_names_are_refused(served: tuple[Office, TestClient]) -> None:
    _, client = served
    assert client.get("/v1/scopes", headers={"Host": "evil.example"}).status_code == 403
    assert client.post("/v1/forget", params=MINE, headers={"Origin": "http://evil.example"}, json={}).status_code == 403
    assert client.get("/v1/scopes", headers={"Origin": "http://127.0.0.1"}).status_code == 200
    answer = client.get("/health")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "body",
    [b"{", b"\xff", b'{"query": "\\ud800"}', b'{"query": "q", "context": {"f": NaN}}', b'{"query": 1e999}', b"[" * 500],
)
def test_broken_bodies_are_the_callers_error_and_never_repeated(served: tuple[Office, TestClient], body: bytes) -> None:
    _, client = served
    answer = client.post("/v1/search", params=MINE, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (200, 400, 422), answer.text
    assert "\n" not in answer.text


def test_a_service_refuses_the_world_without_keys_and_stops_when_told(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "afterwit", "serve", "--store", str(tmp_path / "m.db")]
    command[1:3] = ["-c", "from afterwit.cli import main; main()"]
    refused = subprocess.run([*command, "--host", "0.0.0.0"], capture_output=True, text=True, check=False, timeout=60)
    assert refused.returncode == 2, refused.stderr
    assert refused.stderr.splitlines()[-1].startswith("afterwit: listening on 0.0.0.0 without keys")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen([*command, "--port", str(port)], stderr=subprocess.PIPE, text=True) as running:
        until = time.monotonic() + 30
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready") as answer:
                    assert json.load(answer)["status"] == "ok"
                break
            except OSError:
                assert running.poll() is None and time.monotonic() < until  # noqa: PT018
                time.sleep(0.1)
        running.send_signal(signal.SIGTERM)
        _, log = running.communicate(timeout=30)
    lines = [json.loads(line) for line in log.splitlines()]
    assert lines[0]["event"] == "listening"
    assert any(line.get("route") == "/ready" and line["status"] == 200 for line in lines)
    assert os.path.exists(tmp_path / "m.db")
