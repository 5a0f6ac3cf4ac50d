"""MEG over rounds: one panel a policy, all on one scale."""

from collections.abc import Sequence

from afterwit.evaluate.record import EvaluationRecord, RoundPoint
from afterwit.evaluate.report.html import escaped, named, percent, svg, table, ticks
from afterwit.model import Interval

_WIDTH, _HEIGHT = 320, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 10, 10, 26


def meg_curves(record: EvaluationRecord) -> str:
    """The line is MEG over all tasks so far with its 95 % band, dots are single rounds; a table holds the figures."""
    series = {name: [point for point in points if point.so_far.n] for name, points in record.series.items()}
    series = {name: points for name, points in series.items() if points}
    if not series:
        return "<p>No round was followed by a task that could judge it.</p>"
    every = [point for points in series.values() for point in points]
    low = min(0.0, *(point.so_far.low or 0.0 for point in every))
    high = max(0.01, *(point.so_far.high or 0.0 for point in every))
    low, high = max(low, -0.2), min(high, 0.4)
    first, last = min(point.at for point in every), max(point.at for point in every)
    panels = "".join(
        f"<figure><figcaption>{named(name)}: {percent(points[-1].so_far)} over {points[-1].so_far.n} tasks"
        f"</figcaption>{_panel(name, points, (low, high), (first.timestamp(), last.timestamp()))}</figure>"
        for name, points in series.items()
    )
    explained = (
        "<p>Each round’s bank is judged by the tasks created before the next round, against no memory at all. "
        "The line is the mean so far with its 95&#160;% band; each dot is one round (dots beyond the frame are left "
        "out); the last window is everything after the freeze.</p>"
    )
    rows = [
        [
            escaped(f"{point.at:%Y-%m-%d}"),
            *(percent(_at(points, point)) for points in series.values()),
        ]
        for point in max(series.values(), key=len)
    ]
    figures = table("MEG of all tasks so far, by round", ["Round", *series], rows)
    return f'{explained}<div class="panels">{panels}</div><details><summary>The figures</summary>{figures}</details>'


def _panel(name: str, points: Sequence[RoundPoint], scale: tuple[float, float], span: tuple[float, float]) -> str:
    low, high = scale

    def x(point: RoundPoint) -> float:
        share = (point.at.timestamp() - span[0]) / max(span[1] - span[0], 1)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        share = (min(max(value, low), high) - low) / (high - low)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)

    grid = "".join(
        f'<line class="{"zero" if abs(tick) < 1e-9 else "grid"}" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" '
        f'y1="{y(tick):.1f}" y2="{y(tick):.1f}"/><text class="tick" text-anchor="end" x="{_LEFT - 5}" '
        f'y="{y(tick) + 4:.1f}">{100 * tick:+.0f} %</text>'
        for tick in ticks(low, high)
    )
    ends = "".join(
        f'<text class="tick" text-anchor="{anchor}" x="{place}" y="{_HEIGHT - 8}">{point.at:%b %Y}</text>'
        for point, place, anchor in ((points[0], _LEFT, "start"), (points[-1], _WIDTH - _RIGHT, "end"))
    )
    upper = [f"{x(p):.1f},{y(p.so_far.high or 0.0):.1f}" for p in points]
    lower = [f"{x(p):.1f},{y(p.so_far.low or 0.0):.1f}" for p in reversed(points)]
    line = " ".join(f"{x(p):.1f},{y(p.so_far.value):.1f}" for p in points)
    dots = "".join(
        f'<circle class="dot" r="2" cx="{x(p):.1f}" cy="{y(p.meg.value):.1f}"/>'
        for p in points
        if p.meg.n and low <= p.meg.value <= high
    )
    shape = "own" if name.startswith("tide") else "other"
    return svg(
        _WIDTH,
        _HEIGHT,
        f"MEG of {name} so far, by round",
        f'{grid}{ends}<g class="{shape}"><polygon class="band" points="{" ".join(upper + lower)}"/>'
        f'{dots}<polyline class="line" points="{line}"/></g>',
        fluid=True,
    )


def _at(points: Sequence[RoundPoint], wanted: RoundPoint) -> Interval | None:
    return next((point.so_far for point in points if point.at == wanted.at), None)
