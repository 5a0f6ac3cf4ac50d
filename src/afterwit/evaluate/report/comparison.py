"""Any record as people read it: who comes out where on each leading metric, paired differences, and every figure."""

import re
from collections.abc import Sequence

from afterwit.evaluate.record import EvaluationRecord
from afterwit.evaluate.report.curves import curves
from afterwit.evaluate.report.html import named, number, percent, svg, table, ticks
from afterwit.model import Interval

_WIDTH, _ROW, _LEFT = 640, 26, 220
_LEADS = ("ndcg@5", "hr@1", "success", "f1", "accuracy", "balanced_accuracy")
_COUNTED = ("tokens", "ms", "seconds", "memories", "cards", "refused", "general")


def leading(record: EvaluationRecord) -> str:
    """A dot and an interval a policy, for each leading metric of the record, whole or by part (``success@retail``)."""
    names = {metric for figures in record.policies.values() for metric in figures}
    chosen = [
        metric
        for lead in record.leads or _LEADS
        for metric in sorted(names)
        if metric == lead
        or (metric.startswith((f"{lead}@", f"{lead}:")) and "%" not in metric and "value" not in metric)
    ]
    if not chosen:
        return "<p>No share to compare.</p>"
    return '<div class="wide">' + "".join(_plot(record, metric) for metric in chosen[:8]) + "</div>"


def differences(record: EvaluationRecord) -> str:
    """``METRIC@X`` of a policy: how far it lies from policy X on that metric, paired."""
    rows = [
        [named(name), named(what), named(other), _told(record, what, figure, signed=True), _verdict(what, figure)]
        for name, figures in record.policies.items()
        for metric, figure in figures.items()
        for what, _, other in (metric.rpartition("@"),)
        if what == "gain" or (what and other in record.policies)
    ]
    if not rows:
        return "<p>None in this record.</p>"
    return table("Differences, with 95 % intervals", ["What", "On", "Against", "Difference", "Reads as"], rows)


def everything(record: EvaluationRecord) -> str:
    paired = {f"@{name}" for name in record.policies}
    names = dict.fromkeys(m for figures in record.policies.values() for m in figures if not m.startswith("gain@"))
    rows = [
        [named(metric), *(_told(record, metric, figures.get(metric)) for figures in record.policies.values())]
        for metric in names
        if f"@{metric.rpartition('@')[2]}" not in paired or "@" not in metric
    ]
    return table("Every figure", ["Metric", *record.policies], rows)


def _plot(record: EvaluationRecord, metric: str) -> str:
    found = [(name, figures[metric]) for name, figures in record.policies.items() if metric in figures]
    low = min(min(one.value, one.low if one.low is not None else one.value) for _, one in found)
    high = max(max(one.value, one.high if one.high is not None else one.value) for _, one in found)
    low, high = min(low, 0.0) if low < 0.15 else low, max(high, low + 0.05)
    height = _ROW * len(found) + 30
    plain = _plain(record, metric)

    def x(value: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - 20) * (value - low) / (high - low)

    def said(value: float) -> str:
        return f"{value:,.3g}" if plain else f"{100 * value:.1f} %"

    parts = [
        f'<line class="grid" x1="{x(t):.1f}" x2="{x(t):.1f}" y1="4" y2="{height - 22}"/>'
        f'<text x="{x(t):.1f}" y="{height - 6}" text-anchor="middle">{said(t).replace(".0 %", " %")}</text>'
        for t in ticks(low, high)
    ]
    for place, (name, one) in enumerate(found):
        y = _ROW * place + 16
        parts.append(f'<text x="{_LEFT - 10}" y="{y + 4}" text-anchor="end">{named(name)}</text>')
        if one.low is not None and one.high is not None:
            line = f'x1="{x(one.low):.1f}" x2="{x(one.high):.1f}" y1="{y}" y2="{y}"'
            parts.append(f'<line class="interval" {line}/>')
        parts.append(f'<circle class="mean" cx="{x(one.value):.1f}" cy="{y}" r="4"/>')
    title = f"{metric}: " + ", ".join(f"{name} {said(one.value)}" for name, one in found)
    drawn = svg(_WIDTH, height, title, "".join(parts), fluid=True)
    return f"<figure><figcaption>{named(metric)}</figcaption>{drawn}</figure>"


def _plain(record: EvaluationRecord, metric: str) -> bool:
    """No share, so not in percent."""
    return metric.startswith(_COUNTED) or ">" in metric or re.split("[@:]", metric)[0] in record.plain


def _told(record: EvaluationRecord, metric: str, figure: Interval | None, *, signed: bool = False) -> str:
    if figure is not None and _plain(record, metric):
        return number(figure, signed=signed)
    return percent(figure, signed=signed)


def _verdict(what: str, figure: Interval) -> str:
    above, below = ("better", "worse") if what == "gain" else ("higher", "lower")
    if figure.low is not None and figure.low > 0:
        return above
    return below if figure.high is not None and figure.high < 0 else "no clear difference"


def sections(record: EvaluationRecord) -> Sequence[tuple[str, str, str]]:
    """(heading, anchor, HTML)."""
    steps = (("Step by step", "steps", curves(record)),) if record.curves else ()
    return (
        ("Side by side", "compared", leading(record)),
        *steps,
        ("Paired differences", "differences", differences(record)),
        ("Every figure", "figures", everything(record)),
    )
