"""Commands of a service: serve, and its keys."""

from typing import Annotated

import typer

from afterwit.cli import screen
from afterwit.errors import MissingExtra

keys = typer.Typer(name="keys", help="API keys of a service.", no_args_is_help=True)


def serve(
    store: screen.Store = screen.DEFAULT_STORE,
    host: Annotated[str, typer.Option(help="Where to listen; beyond this machine only with keys.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Of TCP.", min=1, max=65535)] = 8420,
    rate: Annotated[float, typer.Option(help="Requests a second that one caller may keep up.")] = 100.0,
    body: Annotated[int, typer.Option(help="Bytes of a request.")] = 1_000_000,
    log: Annotated[int, typer.Option(help="Bytes of a delivery log or an export that is sent.")] = 100_000_000,
    executor: Annotated[
        str, typer.Option(envvar="AFTERWIT_EXECUTOR", help="Whose jobs to take up; one name a process.")
    ] = "afterwit",
) -> None:
    """Serve REST on a port, until told to stop."""
    try:
        from afterwit.server.run import serve as listen
        from afterwit.service.office import Limits
    except ModuleNotFoundError as error:
        raise MissingExtra(str(error.name), "server") from None
    limits = Limits(body=body, log=log, rate=rate, burst=2 * rate)
    listen(store, host=host, port=port, limits=limits, executor=executor)


@keys.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Who it is for.")],
    scope: Annotated[list[str], typer.Option("--scope", help="acme/push, acme/* or *; may be repeated.")],
    role: Annotated[list[str], typer.Option("--role", help="recall, record, evolve, approve, admin.")],
    store: screen.Store = screen.DEFAULT_STORE,
    as_json: screen.AsJson = False,
) -> None:
    """Make a key. It is shown this once."""
    with screen.open_keyring(store) as keyring:
        key, token = keyring.add(name, scopes=scope, roles=role)
    if as_json:
        screen.print_json({"id": key.id, "token": token})
    else:
        print(token)


@keys.command("list")
def list_(store: screen.Store = screen.DEFAULT_STORE, as_json: screen.AsJson = False) -> None:
    """All keys, without their secrets."""
    with screen.open_keyring(store) as keyring:
        found = keyring.keys.all()
    shown = [
        {
            "id": key.id,
            "name": key.name,
            "scopes": key.scopes,
            "roles": key.roles,
            "created_at": key.created_at,
            "revoked_at": key.revoked_at,
        }
        for key in found
    ]
    if as_json:
        screen.print_json(shown)
    else:
        rows = [
            (k.id, k.name, " ".join(k.scopes), " ".join(k.roles), "revoked" if k.revoked_at else "in use")
            for k in found
        ]
        screen.table(f"{len(rows)} keys", ("id", "name", "scopes", "roles", "state"), rows)


@keys.command("revoke")
def revoke(
    key_id: Annotated[str, typer.Argument(help="As `keys list` shows it.")],
    store: screen.Store = screen.DEFAULT_STORE,
    as_json: screen.AsJson = False,
) -> None:
    """End a key, from the next request on."""
    with screen.open_keyring(store) as keyring:
        key = keyring.revoke(key_id)
    if as_json:
        screen.print_json({"id": key.id, "revoked_at": key.revoked_at})
    else:
        print(f"key {key.id} ({key.name}) is revoked")
