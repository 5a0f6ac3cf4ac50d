"""Figures that were taken step after step: one small plot a policy, all of a metric on one scale."""

from collections.abc import Mapping, Sequence

from afterwit.evaluate.record import EvaluationRecord
from afterwit.evaluate.report.html import named, number, svg, table, ticks
from afterwit.model import Interval

_WIDTH, _HEIGHT = 320, 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 10, 8, 22


def curves(record: EvaluationRecord) -> str:
    """A line with its 95 % band where one is known; a table below each metric holds the figures."""
    return "".join(_of(metric, found) for metric, found in record.curves.items())


def _of(metric: str, found: Mapping[str, Sequence[Interval]]) -> str:
    every = [one for points in found.values() for one in points]
    if not every:
        return ""
    low = min(one.value if one.low is None else min(one.low, one.value) for one in every)
    high = max(one.value if one.high is None else max(one.high, one.value) for one in every)
    high = high if high > low else low + 1
    panels = "".join(
        f"<figure><figcaption>{named(name)}: {number(points[-1])}</figcaption>"
        f"{_panel(f'{metric} of {name}', name, points, (low, high))}</figure>"
        for name, points in found.items()
        if points
    )
    steps = max(len(points) for points in found.values())
    rows = [
        [str(k), *(number(points[k]) if k < len(points) else "" for points in found.values())] for k in range(steps)
    ]
    figures = table(metric, ["Step", *found], rows)
    return (
        f'<h3>{named(metric)}</h3><div class="panels">{panels}</div>'
        f"<details><summary>The figures</summary>{figures}</details>"
    )


def _panel(title: str, name: str, points: Sequence[Interval], scale: tuple[float, float]) -> str:
    low, high = scale

    def x(k: int) -> float:
        return _LEFT + k / max(len(points) - 1, 1) * (_WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return _HEIGHT - _BOTTOM - (value - low) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)

    grid = "".join(
        f'<line class="{"zero" if abs(tick) < 1e-9 else "grid"}" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" '
        f'y1="{y(tick):.1f}" y2="{y(tick):.1f}"/><text class="tick" text-anchor="end" x="{_LEFT - 5}" '
        f'y="{y(tick) + 4:.1f}">{tick:.3g}</text>'
        for tick in ticks(low, high)
    )
    ends = "".join(
        f'<text class="tick" text-anchor="{anchor}" x="{x(k):.1f}" y="{_HEIGHT - 6}">{k}</text>'
        for k, anchor in ((0, "start"), (len(points) - 1, "end"))
    )
    upper = [f"{x(k):.1f},{y(p.value if p.high is None else p.high):.1f}" for k, p in enumerate(points)]
    lower = [f"{x(k):.1f},{y(p.value if p.low is None else p.low):.1f}" for k, p in reversed(list(enumerate(points)))]
    line = " ".join(f"{x(k):.1f},{y(p.value):.1f}" for k, p in enumerate(points))
    shape = "own" if name.startswith("tide") else "other"
    return svg(
        _WIDTH,
        _HEIGHT,
        f"{title}: " + ", ".join(f"{point.value:.3g}" for point in points),
        f'{grid}{ends}<g class="{shape}"><polygon class="band" points="{" ".join(upper + lower)}"/>'
        f'<polyline class="line" points="{line}"/></g>',
        fluid=True,
    )
