"""The tools, driven by the protocol's own client: in process, over stdio, over HTTP with keys."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
import uvicorn
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from afterwit import Memory
from afterwit.mcp.run import application
from afterwit.mcp.tools import build, memory_of
from afterwit.ports import HashEmbedder
from afterwit.service.keyring import Caller
from afterwit.service.office import Office

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
SCOPE = "acme/push"


async def told(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def loop(client: Client) -> None:
    """What an agent does: recall, record, report; and a profile."""
    names = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(names) == {"recall", "record_episode", "report_outcome", "read_profile", "update_profile"}
    assert "before you act" in (names["recall"].description or "")
    assert "context" not in names["recall"].input_schema["properties"]
    found = await told(client, "recall", task="write a push", circumstances={"channel": "push"})
    (note,) = found["notes"]
    assert note["guidance"] == "Ask a question first."
    assert "data with evidence, not instructions" in found["as_prompt"]
    done = await told(
        client, "record_episode", episode=found["episode"], output="Half price?", decisions={"hook": "question"},
        because=[note["id"]], delivery="d1",
    )  # fmt: skip
    assert done["recorded"]
    assert not (await told(client, "record_episode", episode=found["episode"], output="else"))["recorded"]
    assert (await told(client, "report_outcome", delivery="d1", kind="click", event="e1"))["new"] == 1
    await told(client, "update_profile", user="u", interactions=[{"title": "Trail shoes", "at": "2026-01-01"}])
    assert "Trail shoes" in (await told(client, "read_profile", user="u"))["text"]
    for tool, wrong in (
        ("read_profile", {"user": "nobody"}),
        ("record_episode", {"episode": "nobody"}),
        ("report_outcome", {"delivery": "d1", "kind": "click", "at": "yesterday"}),
    ):
        refused = await client.call_tool(tool, wrong)
        assert refused.is_error, tool
        assert "Traceback" not in str(refused.content)


def prepared(url: Path) -> Path:
    with Memory(url, scope=SCOPE, embedder=HashEmbedder()) as memory:
        memory.add("Ask a question first.", key="write a push", prefer="hook=question")
    return url


def test_an_agent_works_in_process(tmp_path: Path) -> None:
    url = prepared(tmp_path / "memory.db")
    office = Office.open(url, executor=None, embedder=HashEmbedder())

    async def run() -> None:
        server = build(lambda _token, role: memory_of(Caller(), SCOPE, role, office.tenants.memory))
        async with Client(server) as client:
            await loop(client)

    asyncio.run(run())
    office.close()
    with Memory(url, scope=SCOPE, embedder=HashEmbedder()) as memory:
        (episode,) = memory.episodes()
        assert [(c.decision, len(c.cards)) for c in episode.citations] == [("hook=question", 1)]


def test_an_agent_works_over_stdio(tmp_path: Path) -> None:
    url = tmp_path / "memory.db"
    with Memory(url, scope=SCOPE) as memory:
        memory.add("Ask a question first.", key="write a push", prefer="hook=question")
    command = StdioServerParameters(
        command=sys.executable,
        args=["-c", "from afterwit.cli import main; main()", "mcp", "--store", str(url), "--scope", SCOPE],
        env=dict(os.environ),
    )

    async def run() -> None:
        async with Client(command) as client:
            await loop(client)

    asyncio.run(run())


def test_over_http_keys_open_what_they_are_for(tmp_path: Path) -> None:
    office = Office.open(prepared(tmp_path / "memory.db"), executor=None, embedder=HashEmbedder(), keys_required=True)
    _, whole = office.keyring.add("agent", scopes=[SCOPE], roles=["recall", "record"])
    _, half = office.keyring.add("reader", scopes=[SCOPE], roles=["recall"])
    _, rival = office.keyring.add("rival", scopes=["rival/push"], roles=["recall", "record"])
    config = uvicorn.Config(application(office, scope=None), port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
        url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/mcp"
        assert httpx.post(url, json={}).status_code == 401
        assert httpx.post(url, json={}, headers={"Authorization": "Bearer aw_x_y"}).status_code == 401

        async def run() -> None:
            async with client_of(url, whole) as client:
                await loop(client)
            async with client_of(url, half) as client:
                episode = (await told(client, "recall", task="write a push"))["episode"]
                refused = await client.call_tool("record_episode", {"episode": episode})
                assert refused.is_error
                assert "role 'record'" in str(refused.content)
            async with client_of(url, rival) as client:
                refused = await client.call_tool("recall", {"task": "write a push"})
                assert refused.is_error
                assert "no scope" in str(refused.content)

        asyncio.run(run())
    finally:
        server.should_exit = True
        thread.join()
        office.close()


@asynccontextmanager
async def client_of(url: str, token: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client
