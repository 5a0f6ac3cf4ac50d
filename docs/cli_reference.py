"""Makes the page of the command line from the commands themselves, whenever the site is built."""

from collections.abc import Iterator
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from afterwit.cli.app import app


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs, which `mkdocs.yml` tells of this file."""
    files.append(File.generated(config, "reference/cli.md", content=page()))
    return files


def page() -> str:
    """The whole page."""
    opening = (
        "# The command line\n\nEvery command takes `--json` where it prints something. A wrong input gives one line "
        "and exit code 2, a failure 1.\n"
    )
    return opening + "".join(_sections(typer.main.get_command(app), "afterwit"))


def _sections(command: Any, name: str) -> Iterator[str]:
    if hasattr(command, "commands"):
        for word, inner in command.commands.items():
            yield from _sections(inner, f"{name} {word}")
        return
    rows = [_row(parameter) for parameter in command.params if "--help" not in parameter.opts]
    said = " ".join((command.help or "").split())
    table = "\n| | |\n|---|---|\n" + "".join(rows) if rows else ""
    yield f"\n## {name}\n\n{said}\n{table}"


def _row(parameter: Any) -> str:
    names = [*parameter.opts, *parameter.secondary_opts]
    shown = ", ".join(names) if names[0].startswith("-") else parameter.name.upper()
    said = " ".join((getattr(parameter, "help", None) or "").replace("|", "\\|").split())
    return f"| `{shown}` | {said} |\n"
