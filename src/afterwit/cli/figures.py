"""An evaluation as people read it: one line a policy within 80 columns, and a sentence that says what it means."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from afterwit.cli import screen

if TYPE_CHECKING:
    from afterwit.evaluate.record import EvaluationRecord
    from afterwit.model import Interval

_COLUMNS = ("memory", "clear pairs %", "uplift %", "worse %", "cards")


def print_headlines(record: "EvaluationRecord") -> None:
    """The headline benchmark: shares in percent with 95 % intervals."""
    rows = []
    for policy, figures in record.policies.items():
        cards = figures.get("cards")
        rows.append(
            (
                policy.removeprefix("reference:"),
                percent(figures, "significant_pairs_accuracy"),
                percent(figures, "uplift", signed=True),
                percent(figures, "negative_transfer", interval=False),
                "–" if cards is None else f"{cards.value:,.0f}",
            )
        )
    screen.table(f"{record.benchmark}: choosing among the headlines of later tests", _COLUMNS, rows)
    for line in (meaning(record), *record.notes):
        if line:
            screen.say(line)


def print_leads(record: "EvaluationRecord") -> None:
    """Any record that names its leading metrics: one line a policy that has some of them."""
    plain = set(record.plain)
    rows = [
        (name, *(number(figures, lead) if lead in plain else percent(figures, lead) for lead in record.leads))
        for name, figures in record.policies.items()
        if any(lead in figures for lead in record.leads)
    ]
    heads = [lead if lead in plain else f"{lead} %" for lead in record.leads]
    screen.table(record.benchmark, ("policy", *heads), rows)
    for note in record.notes:
        screen.say(note)


def number(figures: "Mapping[str, Interval]", metric: str) -> str:
    found = figures.get(metric)
    if found is None:
        return "–"
    text = f"{found.value:.4g}"
    if found.low is not None and found.high is not None and found.low != found.high:
        text += f" [{found.low:.4g}, {found.high:.4g}]"
    return text


def percent(figures: "Mapping[str, Interval]", metric: str, *, signed: bool = False, interval: bool = True) -> str:
    found = figures.get(metric)
    if found is None:
        return "–"
    sign = "+" if signed else ""
    text = f"{100 * found.value:{sign}.1f}"
    if interval and found.low is not None and found.high is not None and found.low != found.high:
        text += f" [{100 * found.low:.1f}, {100 * found.high:.1f}]"
    return text


def meaning(record: "EvaluationRecord") -> str:
    """What tide's row says, in one sentence."""
    tide = record.policies.get("tide", {})
    uplift, against = tide.get("uplift"), tide.get("uplift@frozen")
    if uplift is None or uplift.low is None or uplift.high is None:
        return ""
    sure = "more" if uplift.low > 0 else "fewer" if uplift.high < 0 else "neither surely more nor fewer"
    text = f"With tide the chosen headlines got {abs(100 * uplift.value):.1f} % {sure} clicks than their group's mean"
    if sure.startswith("neither"):
        text = f"With tide the chosen headlines got {sure} clicks than their group's mean ({100 * uplift.value:+.1f} %)"
    if against is not None and against.low is not None and against.high is not None:
        apart = "clear of 0" if against.low > 0 or against.high < 0 else "not clear of 0"
        text += f", {100 * against.value:+.1f} points against a frozen memory ({apart})"
    return (
        f"{text}. Clear pairs: headlines of one test whose rates differ beyond chance, put in the right order. Worse: "
        "groups where the choice got fewer clicks than the mean. 95 % intervals in brackets."
    )
