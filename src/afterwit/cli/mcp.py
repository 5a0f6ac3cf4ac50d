"""The command that serves tools to agents."""

from typing import Annotated

import typer

from afterwit.cli import screen
from afterwit.errors import MissingExtra


def mcp(
    store: screen.Store = screen.DEFAULT_STORE,
    scope: Annotated[
        str | None, typer.Option("--scope", envvar="AFTERWIT_SCOPE", help="The agent's; over HTTP the key may name it.")
    ] = None,
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP at /mcp instead of stdio.")] = False,
    host: Annotated[str, typer.Option(help="Where to listen; beyond this machine only with keys.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Of TCP.", min=1, max=65535)] = 8421,
) -> None:
    """Serve the memory as tools of the Model Context Protocol."""
    try:
        from afterwit.mcp import run
    except ModuleNotFoundError as error:
        raise MissingExtra(str(error.name), "server") from None
    if http:
        run.http(store, scope=scope, host=host, port=port)
    else:
        run.stdio(store, scope=scope or screen.DEFAULT_SCOPE)
