"""The page: sections in the order in which a reader asks."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from afterwit.errors import InputError
from afterwit.evaluate.record import EvaluationRecord
from afterwit.evaluate.report import comparison
from afterwit.evaluate.report.cards import forest, lineage
from afterwit.evaluate.report.figures import key_figures, policy_table
from afterwit.evaluate.report.html import escaped, named
from afterwit.evaluate.report.meg_curves import meg_curves
from afterwit.evaluate.report.rounds import last_edits, refused
from afterwit.evaluate.report.style import STYLE


def page(record: EvaluationRecord) -> str:
    """One self-contained document; every text of the record is escaped."""
    title = f"Afterwit: {record.benchmark}"
    of_rounds = record.rounds or record.benchmark.startswith("upworthy")
    told = _of_rounds(record) if of_rounds else comparison.sections(record)
    sections = (*told, ("About this run", "about", _about(record)))
    links = "".join(f'<li><a href="#{anchor}">{named(name)}</a></li>' for name, anchor, _ in sections)
    body = "".join(
        f'<section id="{anchor}" aria-labelledby="{anchor}-title"><h2 id="{anchor}-title">{named(name)}</h2>'
        f"{content}</section>"
        for name, anchor, content in sections
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        '<meta name="color-scheme" content="light dark"/>'
        f"<title>{escaped(title)}</title><style>{STYLE}</style></head>"
        f'<body><a class="skip" href="#main">Skip to the results</a><header><h1>{escaped(title)}</h1>'
        f'<nav aria-label="Sections"><ul>{links}</ul></nav></header><main id="main">{body}</main></body></html>\n'
    )


def _of_rounds(record: EvaluationRecord) -> Sequence[tuple[str, str, str]]:
    """A memory that evolved, round by round."""
    return (
        ("What it was worth", "worth", key_figures(record)),
        ("Memory-evolution gain over rounds", "meg", meg_curves(record)),
        ("Policies side by side", "policies", policy_table(record)),
        ("The cards and their effects", "cards", forest(record)),
        ("The life of one card", "lineage", lineage(record)),
        ("Edits of the last round", "edits", last_edits(record)),
        ("Refused, and why", "refused", refused(record)),
    )


def write(record: EvaluationRecord, path: Path) -> Path:
    """Whole or not at all. Raises InputError where the place cannot be written."""
    temporary = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(page(record), encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise InputError(f"the report cannot be written to {path}: {error.strerror or error}") from None
    return path


def _about(record: EvaluationRecord) -> str:
    facts = {
        "Afterwit": record.version,
        "seed": record.seed,
        "seconds": f"{record.seconds:.1f}",
        **{f"{role} file": digest for role, digest in record.data.items()},
        **{name.replace("_", " "): count for name, count in record.counts.items()},
    }
    rows = "".join(f"<div><dt>{named(name)}</dt><dd>{escaped(value)}</dd></div>" for name, value in facts.items())
    notes = "".join(f"<li>{escaped(note)}</li>" for note in record.notes)
    return f'<dl class="facts">{rows}</dl>' + (f"<ul>{notes}</ul>" if notes else "")
