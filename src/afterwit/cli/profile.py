"""Commands around users' profiles."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from afterwit.cli import screen
from afterwit.errors import InputError

if TYPE_CHECKING:
    from afterwit.model import Profile

profile = typer.Typer(help="What is remembered of a user, within a budget of tokens.", no_args_is_help=True)

User = Annotated[str, typer.Argument(help="The user.")]
Budget = Annotated[int, typer.Option(help="Tokens that a version may have.")]


@profile.command()
def read(
    user: User,
    history: Annotated[
        Path, typer.Argument(help="JSON Lines: item or title, at, brand, price, currency, rating, text.")
    ],
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    budget: Budget = 5000,
    query: Annotated[str, typer.Option(help="What the profile is for; anything if left out.")] = "",
    model: Annotated[str | None, typer.Option(help="Who writes: local, openai:MODEL, anthropic:MODEL.")] = None,
    as_json: screen.AsJson = False,
) -> None:
    """Fold a history, oldest first. Reading it again changes nothing; a run that broke off goes on."""
    from afterwit.digest.history import read_history  # heavy, and `--help` does without it

    with screen.open_memory(store, scope, model=model) as memory, screen.progress_bar("interactions") as progress:
        found = memory.profile(user, budget=budget, query=query).read(read_history(history), progress=progress)
    _tell(found, as_json)


@profile.command()
def show(
    user: User,
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    version: Annotated[int | None, typer.Option(help="The newest if left out.")] = None,
    as_json: screen.AsJson = False,
) -> None:
    """Print a profile as Markdown."""
    with screen.open_memory(store, scope) as memory:
        profile = memory.profile(user)
        found = profile.current if version is None else profile.version(version)
    if as_json:
        screen.print_json(found)
    elif found.version:
        print(found.text, end="")
    else:
        print(f"nothing is remembered of {user} yet: afterwit profile read {user} history.jsonl")


@profile.command("list")
def list_(
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    as_json: screen.AsJson = False,
) -> None:
    """Who has a profile."""
    with screen.open_memory(store, scope) as memory:
        found = [memory.profile(user).current for user in memory.users()]
    if as_json:
        screen.print_json([_row(one) for one in found])
    else:
        rows = [(one.user, one.version, one.interactions, one.tokens, one.writer) for one in found]
        screen.table(f"{len(rows)} profiles", ("user", "version", "interactions", "tokens", "writer"), rows)


@profile.command()
def log(
    user: User,
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    as_json: screen.AsJson = False,
) -> None:
    """The versions of a profile, newest first."""
    with screen.open_memory(store, scope) as memory:
        found = memory.profile(user).versions()
    if as_json:
        screen.print_json([_row(one) for one in found])
    else:
        rows = [(v.version, v.operator, v.writer, v.interactions, v.tokens, v.note) for v in found]
        screen.table(user, ("version", "how", "writer", "interactions", "tokens", "why"), rows)


@profile.command()
def diff(
    user: User,
    before: Annotated[int, typer.Argument(help="A version.")],
    after: Annotated[int | None, typer.Argument(help="Another; the newest if left out.")] = None,
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    as_json: screen.AsJson = False,
) -> None:
    """Lines that went and came between two versions."""
    with screen.open_memory(store, scope) as memory:
        lines = memory.profile(user).diff(before, after)
    if as_json:
        screen.print_json(lines)
    else:
        print("\n".join(lines) or "nothing changed")


@profile.command()
def edit(
    user: User,
    text: Annotated[Path, typer.Argument(help="A file with the whole text of the new version.")],
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    budget: Budget = 5000,
    as_json: screen.AsJson = False,
) -> None:
    """Put a text of your own in place of the newest version."""
    try:
        written = text.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{text} cannot be read: {error}") from None
    with screen.open_memory(store, scope) as memory:
        found = memory.profile(user, budget=budget).edit(written)
    _tell(found, as_json)


@profile.command()
def constrain(
    user: User,
    said: Annotated[str, typer.Argument(help="Such as 'never mention health'.")],
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    budget: Budget = 5000,
    release: Annotated[bool, typer.Option("--release", help="Take it back.")] = False,
    as_json: screen.AsJson = False,
) -> None:
    """A rule that this and every later version respects."""
    with screen.open_memory(store, scope) as memory:
        profile = memory.profile(user, budget=budget)
        found = profile.release(said) if release else profile.constrain(said)
    _tell(found, as_json)


@profile.command()
def rollback(
    user: User,
    version: Annotated[int, typer.Argument(help="Whose text comes back, as a new version.")],
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    as_json: screen.AsJson = False,
) -> None:
    """Go back to an earlier text; constraints of today hold for it."""
    with screen.open_memory(store, scope) as memory:
        found = memory.profile(user).rollback(version)
    _tell(found, as_json)


@profile.command()
def rank(
    user: User,
    candidates: Annotated[Path, typer.Argument(help="JSON Lines: id, title and, if you like, text.")],
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    query: Annotated[str, typer.Option(help="What the user asks for.")] = "",
    as_json: screen.AsJson = False,
) -> None:
    """Order candidates by what is remembered of the user, best first."""
    from afterwit.digest.answer import Candidate  # heavy, and `--help` does without it
    from afterwit.digest.history import read_history

    items = [Candidate(id=one.item, title=one.title, text=one.text) for one in read_history(candidates)]
    with screen.open_memory(store, scope) as memory:
        found = memory.profile(user).rank(items, query=query)
    if as_json:
        screen.print_json([{"id": one.id, "title": one.title} for one in found])
    else:
        screen.table(user, ("place", "id", "what"), [(i, one.id, one.title) for i, one in enumerate(found, 1)])


def _row(profile: "Profile") -> dict[str, object]:
    data = dict(screen.as_data(profile))
    del data["text"]
    return data


def _tell(found: "Profile", as_json: bool) -> None:
    if as_json:
        screen.print_json(found)
        return
    note = f" ({found.note})" if found.note else ""
    print(
        f"version {found.version} of {found.user}: {found.interactions} interactions in {found.tokens} of "
        f"{found.budget} tokens{note}"
    )
