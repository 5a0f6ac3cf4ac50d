"""Any record as people read it: who comes out where on each leading metric, paired differences, and every figure."""

from collections.abc import Mapping, Sequence

from afterwit.evaluate.record import EvaluationRecord
from afterwit.evaluate.report.html import escaped, percent, svg, table, ticks
from afterwit.model import Interval

_WIDTH, _ROW, _LEFT = 640, 26, 220
_LEADS = ("ndcg@5", "hr@1", "success", "f1", "accuracy", "balanced_accuracy")
_COUNTED = ("tokens", "ms", "seconds", "memories", "cards", "refused", "general")


def leading(record: EvaluationRecord) -> str:
    """A dot and an interval a policy, for each leading metric of the record, whole or by part (``success@retail``)."""
    names = {metric for figures in record.policies.values() for metric in figures}
    chosen = [
        metric
        for lead in _LEADS
        for metric in sorted(names)
        if metric == lead
        or (metric.startswith((f"{lead}@", f"{lead}:")) and "%" not in metric and "value" not in metric)
    ]
    if not chosen:
        return "<p>No share to compare.</p>"
    return '<div class="wide">' + "".join(_plot(record.policies, metric) for metric in chosen[:8]) + "</div>"


def differences(record: EvaluationRecord) -> str:
    """``gain@X`` of a policy: its lead over X, paired."""
    rows = [
        [escaped(name), escaped(metric.removeprefix("gain@")), percent(figure), _verdict(figure)]
        for name, figures in record.policies.items()
        for metric, figure in figures.items()
        if metric.startswith("gain@")
    ]
    if not rows:
        return "<p>None in this record.</p>"
    return table("Points, with 95 % intervals", ["What", "Against", "Difference", "Reads as"], rows)


def everything(record: EvaluationRecord) -> str:
    names = list(dict.fromkeys(m for figures in record.policies.values() for m in figures if not m.startswith("gain@")))
    rows = [
        [escaped(metric), *(_told(metric, figures.get(metric)) for figures in record.policies.values())]
        for metric in names
    ]
    return table("Every figure", ["Metric", *record.policies], rows)


def _plot(policies: Mapping[str, Mapping[str, Interval]], metric: str) -> str:
    found = [(name, figures[metric]) for name, figures in policies.items() if metric in figures]
    low = min(min(one.value, one.low if one.low is not None else one.value) for _, one in found)
    high = max(max(one.value, one.high if one.high is not None else one.value) for _, one in found)
    low, high = min(low, 0.0) if low < 0.15 else low, max(high, low + 0.05)
    height = _ROW * len(found) + 30

    def x(value: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - 20) * (value - low) / (high - low)

    parts = [
        f'<line class="grid" x1="{x(t):.1f}" x2="{x(t):.1f}" y1="4" y2="{height - 22}"/>'
        f'<text x="{x(t):.1f}" y="{height - 6}" text-anchor="middle">{100 * t:.0f} %</text>'
        for t in ticks(low, high)
    ]
    for place, (name, one) in enumerate(found):
        y = _ROW * place + 16
        parts.append(f'<text x="{_LEFT - 10}" y="{y + 4}" text-anchor="end">{escaped(name)}</text>')
        if one.low is not None and one.high is not None:
            line = f'x1="{x(one.low):.1f}" x2="{x(one.high):.1f}" y1="{y}" y2="{y}"'
            parts.append(f'<line class="interval" {line}/>')
        parts.append(f'<circle class="mean" cx="{x(one.value):.1f}" cy="{y}" r="4"/>')
    title = f"{metric}: " + ", ".join(f"{name} {100 * one.value:.1f} %" for name, one in found)
    drawn = svg(_WIDTH, height, title, "".join(parts), fluid=True)
    return f"<figure><figcaption>{escaped(metric)}</figcaption>{drawn}</figure>"


def _told(metric: str, figure: Interval | None) -> str:
    counted = metric.startswith(_COUNTED) or ">" in metric
    if figure is not None and counted:
        return f"{figure.value:,.1f}".removesuffix(".0")
    return percent(figure, signed=False)


def _verdict(figure: Interval) -> str:
    if figure.low is not None and figure.low > 0:
        return "better"
    return "worse" if figure.high is not None and figure.high < 0 else "no clear difference"


def sections(record: EvaluationRecord) -> Sequence[tuple[str, str, str]]:
    """(heading, anchor, HTML)."""
    return (
        ("Side by side", "compared", leading(record)),
        ("Paired differences", "differences", differences(record)),
        ("Every figure", "figures", everything(record)),
    )
