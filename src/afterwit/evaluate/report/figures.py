"""The figures of the record: the few that matter most, and the table of all."""

from afterwit.evaluate.record import EvaluationRecord
from afterwit.evaluate.report.html import escaped, named, percent, table
from afterwit.model import Interval

_COLUMNS = (
    ("significant_pairs_accuracy", "Right on clearly different pairs", False),
    ("pairs_accuracy", "Right on all pairs", False),
    ("uplift", "Uplift over the mean", True),
    ("meg@rounds", "MEG while learning", True),
    ("negative_transfer", "Tasks made worse", False),
)


def key_figures(record: EvaluationRecord) -> str:
    tide = record.policies.get("tide", {})
    found = (
        ("Uplift on later tasks", percent(tide.get("uplift")), "rate of the chosen over the mean of its task, less 1"),
        (
            "Clearly different pairs put right",
            percent(tide.get("significant_pairs_accuracy"), signed=False),
            "50 % is chance",
        ),
        (
            "Cards",
            _count(tide.get("cards")),
            f"{sum(card.status == 'active' for card in record.cards)} of them confirmed",
        ),
        ("Tokens", _count(tide.get("tokens")), "the whole bank in a prompt"),
    )
    return (
        '<div class="keys">'
        + "".join(
            f'<div class="key"><div class="name">{named(name)}</div><div class="figure">{figure}</div>'
            f'<div class="hint">{escaped(hint)}</div></div>'
            for name, figure, hint in found
        )
        + "</div>"
    )


def policy_table(record: EvaluationRecord) -> str:
    """Policies × metrics, and below them tide's paired differences."""
    rows = [
        [
            named(name),
            *(percent(figures.get(metric), signed=signed) for metric, _, signed in _COLUMNS),
            _count(figures.get("cards")),
            _count(figures.get("tokens")),
        ]
        for name, figures in record.policies.items()
    ]
    columns = ["Policy", *(label for _, label, _ in _COLUMNS), "Cards", "Tokens"]
    whole = table("On tasks after the freeze, with 95 % intervals", columns, rows)
    differences = [
        [named(metric.partition("@")[2]), percent(figure), _verdict(figure)]
        for metric, figure in record.policies.get("tide", {}).items()
        if metric.startswith("uplift@")
    ]
    if not differences:
        return whole
    return whole + table(
        "Uplift of tide less that of another, paired", ["Against", "Difference", "Reads as"], differences
    )


def _verdict(figure: Interval) -> str:
    if figure.low is not None and figure.low > 0:
        return "better"
    return "worse" if figure.high is not None and figure.high < 0 else "no clear difference"


def _count(figure: Interval | None) -> str:
    return '<span class="none">none</span>' if figure is None else f"{figure.value:,.0f}"
