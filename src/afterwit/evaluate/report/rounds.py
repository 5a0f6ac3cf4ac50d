"""What the last round did, and what it left alone."""

from afterwit.evaluate.record import EvaluationRecord
from afterwit.evaluate.report.html import escaped, named, table


def last_edits(record: EvaluationRecord) -> str:
    if not record.rounds:
        return "<p>No round was run.</p>"
    last = record.rounds[-1]
    rows = []
    for edit in last.edits:
        if edit.operator in ("reinforce", "confirm"):
            rows.append([named(edit.operator), f"{len(edit.writes)} cards", escaped(edit.reason)])
        else:
            rows += [[named(edit.operator), escaped(card.guidance), escaped(edit.reason)] for card in edit.writes]
    opening = f"<p>{escaped(last.summary())}, from {last.figures.get('items', 0):.0f} items.</p>"
    return opening + (table("Edits, in order", ["Operator", "Card", "Why"], rows) if rows else "")


def refused(record: EvaluationRecord) -> str:
    """Insufficient is an answer: what was considered, and what the evidence lacked."""
    found = record.rounds[-1].refused if record.rounds else ()
    if not found:
        return "<p>The last round refused nothing.</p>"
    rows = [[named(one.subject), named(one.verdict), escaped(one.reason)] for one in found]
    return table("Considered in the last round and not done", ["What", "Verdict", "Why"], rows)
