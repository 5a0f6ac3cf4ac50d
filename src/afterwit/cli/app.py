"""The list of commands."""

from typing import Annotated

import typer

from afterwit import __version__
from afterwit.cli import bank, exchange, learn, logs
from afterwit.cli.add import add
from afterwit.cli.conflicts import conflicts
from afterwit.cli.demo import demo
from afterwit.cli.evaluate import evaluate
from afterwit.cli.mcp import mcp
from afterwit.cli.perceive import perceive
from afterwit.cli.pins import pin, unpin
from afterwit.cli.profile import profile
from afterwit.cli.serve import keys, serve
from afterwit.cli.settings import settings

app = typer.Typer(
    name="afterwit",
    help="Memory for LLM agents that learns from what happened afterwards.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    pass


for command in (
    demo,
    learn.init,
    settings,
    add,
    logs.mapping,
    logs.ingest,
    learn.evolve,
    bank.recall,
    bank.cards,
    bank.show,
    pin,
    unpin,
    conflicts,
    bank.log,
    bank.diff,
    learn.rollback,
    learn.approve,
    exchange.forget,
    exchange.export,
    exchange.doctor,
    perceive,
    serve,
    mcp,
):
    app.command()(command)
app.command("import")(exchange.import_)
app.add_typer(evaluate, name="evaluate")
app.add_typer(profile, name="profile")
app.add_typer(keys, name="keys")
