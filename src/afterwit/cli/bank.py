"""Commands that look: recall, cards, show, log, diff."""

from collections.abc import Iterable
from typing import Annotated

import typer

from afterwit.cli import screen
from afterwit.cli.course import course
from afterwit.errors import InputError
from afterwit.model import Card
from afterwit.recall.conflicts import Disagreement, contradicted, disagreements, newer_first


def recall(
    task: Annotated[str, typer.Argument(help="The task to serve.")],
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    bank: screen.BankName = "content",
    k: Annotated[int, typer.Option(help="How many cards.")] = 3,
    context: Annotated[list[str] | None, typer.Option("--context", help="field=value, may be repeated.")] = None,
    candidate: Annotated[list[str] | None, typer.Option("--candidate", help="A text to choose from.")] = None,
    vocabulary: Annotated[
        str | None, typer.Option(help="Named decisions in text, such as 'headlines', for this command alone.")
    ] = None,
    as_json: screen.AsJson = False,
) -> None:
    """The cards that this task would get, with their scores. Leaves no trace."""
    with screen.open_memory(store, scope, vocabulary=vocabulary, keep=False) as memory:
        found = memory.search(
            task, context=screen.context_of(context or []), bank=bank, k=k, candidates=candidate or []
        )
    if as_json:
        screen.print_json([{"card": card, "recalled": trace} for card, trace in found])
    else:
        pairs = disagreements(card for card, _ in found)
        rows = [
            (t.rank, f"{t.score:.3f}", f"{t.similarity:.3f}", _standing(c, pairs), c.guidance, screen.short(c.id))
            for c, t in found
        ]
        screen.table("Recalled", ("rank", "score", "similarity", "status", "card", "id"), rows)


def cards(
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    bank: screen.BankName = "content",
    as_of: Annotated[str | None, typer.Option(help="The bank as it was then.")] = None,
    as_json: screen.AsJson = False,
) -> None:
    """The live cards of a bank."""
    with screen.open_memory(store, scope) as memory:
        found = sorted(memory.cards(bank=bank, as_of=screen.moment(as_of)), key=lambda c: (-abs(c.effect), c.id))
    pairs = disagreements(found)
    here = {card.id: card for card in found}
    found = [here[id_] for id_ in newer_first(list(here), contradicted(pairs))]
    if as_json:
        screen.print_json(found)
    else:
        rows = [
            (_standing(c, pairs), c.guidance, str(c.when), f"{c.effect:+.3f}", c.uses, screen.short(c.id))
            for c in found
        ]
        screen.table(f"{len(found)} cards", ("status", "card", "when", "effect", "uses", "id"), rows)


def show(
    card_id: Annotated[str, typer.Argument(help="Its id, or the end of it as `cards` shows it.")],
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    as_json: screen.AsJson = False,
) -> None:
    """One card: what it says, on what evidence, and every edit that made it."""
    with screen.open_memory(store, scope) as memory:
        card_id = screen.whole(card_id, (c.id for name in screen.BANKS for c in memory.cards(bank=name)))
        card, history, rounds = memory.get(card_id), memory.history(card_id), memory.rounds()
    if as_json:
        screen.print_json({"card": card, "history": history})
        return
    screen.table("Card", ("field", "value"), list(_facts(card)))
    if drawn := course(card_id, history, rounds):
        screen.table("Effect on the log rate", ("round", "mean and 95 % interval", "about 0", "what happened"), drawn)
    rows = [(e.operator, w.version, f"{w.effect:+.3f}", e.reason) for e in history for w in e.writes if w.id == card_id]
    screen.table("Lineage", ("operator", "version", "effect", "why"), rows)


def log(
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    limit: Annotated[int, typer.Option(help="How many rounds.")] = 20,
    as_json: screen.AsJson = False,
) -> None:
    """The rounds, newest first."""
    with screen.open_memory(store, scope) as memory:
        rounds = memory.rounds(limit=limit)
    if as_json:
        screen.print_json(rounds)
    else:
        rows = [
            (r.as_of.date(), r.status, r.bank, len(r.edits), r.note or r.summary(), screen.short(r.id)) for r in rounds
        ]
        screen.table("Rounds", ("as of", "status", "bank", "edits", "what", "id"), rows)


def diff(
    before: Annotated[str, typer.Argument(help="A date or time.")],
    after: Annotated[str | None, typer.Argument(help="A later one; now if left out.")] = None,
    store: screen.Store = screen.DEFAULT_STORE,
    scope: screen.Scope = screen.DEFAULT_SCOPE,
    bank: screen.BankName = "content",
    as_json: screen.AsJson = False,
) -> None:
    """What changed in a bank between two moments."""
    start = screen.moment(before)
    if start is None:
        raise InputError("diff needs a date or time")
    with screen.open_memory(store, scope) as memory:
        found = memory.diff(start, screen.moment(after), bank=bank)
    if as_json:
        screen.print_json(found)
        return
    rows = [("+", card.guidance, f"{card.effect:+.3f}") for card in found.added]
    rows += [("-", card.guidance, f"{card.effect:+.3f}") for card in found.removed]
    rows += [("~", new.guidance, f"{old.effect:+.3f} → {new.effect:+.3f}") for old, new in found.changed]
    screen.table(f"{len(rows)} differences", ("", "card", "effect"), rows)


def _standing(card: Card, pairs: Iterable[Disagreement] = ()) -> str:
    pinned = ["pinned"] if card.pinned else []
    newer = [f"contradicts {screen.short(pair.older.id)}" for pair in pairs if pair.newer.id == card.id]
    older = [f"contradicted by {screen.short(pair.newer.id)}" for pair in pairs if pair.older.id == card.id]
    return ", ".join((card.status, *pinned, *newer, *older))


def _facts(card: Card) -> list[tuple[str, object]]:
    facts: list[tuple[str, object]] = [
        ("guidance", card.guidance),
        ("applies to", card.key),
        ("when", card.when),
        ("stance", card.stance or "none"),
        ("status", _standing(card)),
        ("joint effect", f"{card.effect:+.4f} log rate ratio"),
        ("uses", card.uses),
        ("version", card.version),
        ("written by", card.provenance.operator),
        ("tokens", card.tokens),
    ]
    for objective, fitness in card.fitness.items():
        facts.append((f"effect on {objective}", f"{fitness.mean:+.4f} ± {fitness.sd:.4f} ({fitness.strata} strata)"))
    if card.trial is not None:
        done = "open" if card.trial.tested_at is None else f"p = {card.trial.p_value:.4g}"
        facts.append(("confirmation", f"{done}, a test of {card.trial.needed} strata declared"))
    return facts
