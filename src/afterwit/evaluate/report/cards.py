"""The cards as a forest plot, and the life of one of them."""

from collections.abc import Sequence

from afterwit.evaluate.record import EvaluationRecord
from afterwit.evaluate.report.html import escaped, named, svg, table, ticks
from afterwit.model import Card, Edit, Posterior, Round

_WIDTH, _ROW = 340, 30
_Z = 1.96
_LEGEND = (
    "<p>Effects on the log rate: right of 0 the decision raises it. "
    '<span class="mark">●</span> with a thick line: shrunken effect from all evidence, 95&#160;% interval. '
    '<span class="mark">■</span> with a thin line below: items first shown after the card was admitted, which no '
    'selection has touched. <span class="mark">◇</span>: joint effect beside the other cards, by which it chooses.</p>'
)


def forest(record: EvaluationRecord) -> str:
    cards = sorted(record.cards, key=lambda card: (-abs(card.effect), card.id))
    if not cards:
        return "<p>The bank is empty: nothing passed admission.</p>"
    reach = min(max(0.05, *(_reach(card) for card in cards)), 0.6)
    rows = [
        [
            escaped(card.guidance) + ("" if not card.when.clauses else f" <small>where {escaped(card.when)}</small>"),
            named(card.status),
            _row(card, reach),
            f"{card.effect:+.3f}",
            str(_fitness(card).strata),
        ]
        for card in cards
    ]
    columns = ["Card", "Status", "Effect on the log rate", "Joint", "Strata"]
    return _LEGEND + table(f"{len(cards)} cards, the strongest first", columns, rows) + _axis(reach)


def lineage(record: EvaluationRecord) -> str:
    """The card with the most to tell: its edits in order, and how the estimate narrowed."""
    card = _storied(record)
    if card is None:
        return "<p>No card has a history yet.</p>"
    lives = [
        (round_, edit, version)
        for round_ in record.rounds
        for edit in round_.edits
        for version in edit.writes
        if version.id == card.id
    ]
    steps = "".join(_step(round_, edit, version) for round_, edit, version in lives if edit.operator != "reinforce")
    refreshed = sum(edit.operator == "reinforce" for _, edit, _ in lives)
    return (
        f"<p><strong>{escaped(card.guidance)}</strong> <small>{escaped(card.id[:8])}, {named(card.status)}, "
        f"version {card.version}; its numbers were refreshed {refreshed} times.</small></p>"
        f"{_narrowing(lives)}<ol class='life'>{steps}</ol>"
    )


def _storied(record: EvaluationRecord) -> Card | None:
    told: dict[str, int] = {}
    for round_ in record.rounds:
        for edit in round_.edits:
            for card in edit.writes if edit.operator != "reinforce" else ():
                told[card.id] = told.get(card.id, 0) + 1
    cards = sorted(
        record.cards, key=lambda card: (card.status != "active", -told.get(card.id, 0), -abs(card.effect), card.id)
    )
    return cards[0] if cards else None


def _step(round_: Round, edit: Edit, version: Card) -> str:
    test = ""
    if edit.operator == "confirm" and version.trial is not None and version.trial.p_value is not None:
        outcome = "confirmed" if version.trial.confirmed else "not confirmed"
        test = f" Its own test: p = {version.trial.p_value:.2g}, {outcome}."
    return (
        f"<li><time datetime='{round_.as_of.isoformat()}'>{round_.as_of:%Y-%m-%d}</time> "
        f"<strong>{named(edit.operator)}</strong>: {escaped(edit.reason)}{test}</li>"
    )


def _narrowing(lives: Sequence[tuple[Round, Edit, Card]]) -> str:
    """Posterior mean and 95 % band of the card, version by version."""
    points = [(round_.as_of.timestamp(), _fitness(version)) for round_, _, version in lives]
    if len(points) < 2:
        return ""
    width, height, left = 640, 150, 46
    low = min(0.0, *(p.mean - _Z * p.sd for _, p in points))
    high = max(0.0, *(p.mean + _Z * p.sd for _, p in points))
    start, end = points[0][0], points[-1][0]

    def x(at: float) -> float:
        return left + (at - start) / max(end - start, 1) * (width - left - 10)

    def y(value: float) -> float:
        return height - 24 - (value - low) / max(high - low, 1e-9) * (height - 34)

    grid = "".join(
        f'<line class="{"zero" if abs(tick) < 1e-9 else "grid"}" x1="{left}" x2="{width - 10}" y1="{y(tick):.1f}" '
        f'y2="{y(tick):.1f}"/><text class="tick" text-anchor="end" x="{left - 5}" y="{y(tick) + 4:.1f}">'
        f"{tick:+.2f}</text>"
        for tick in ticks(low, high)
    )
    dates = "".join(
        f'<text class="tick" text-anchor="{anchor}" x="{place}" y="{height - 6}">{round_.as_of:%b %Y}</text>'
        for round_, place, anchor in ((lives[0][0], left, "start"), (lives[-1][0], width - 10, "end"))
    )
    upper = [f"{x(at):.1f},{y(p.mean + _Z * p.sd):.1f}" for at, p in points]
    lower = [f"{x(at):.1f},{y(p.mean - _Z * p.sd):.1f}" for at, p in reversed(points)]
    line = " ".join(f"{x(at):.1f},{y(p.mean):.1f}" for at, p in points)
    content = (
        f'{grid}{dates}<g class="own"><polygon class="band" points="{" ".join(upper + lower)}"/>'
        f'<polyline class="line" points="{line}"/></g>'
    )
    return f'<div class="wide">{svg(width, height, "Its effect as evidence came in", content, fluid=True)}</div>'


def _row(card: Card, reach: float) -> str:
    def x(value: float) -> float:
        return _WIDTH / 2 + min(max(value / reach, -1), 1) * (_WIDTH / 2 - 8)

    fitness, middle = _fitness(card), 11
    parts = [
        f'<line class="zero" x1="{x(0):.1f}" x2="{x(0):.1f}" y1="0" y2="{_ROW}"/>',
        f'<line class="interval" x1="{x(fitness.mean - _Z * fitness.sd):.1f}" '
        f'x2="{x(fitness.mean + _Z * fitness.sd):.1f}" y1="{middle}" y2="{middle}"/>',
        f'<circle class="mean" r="4" cx="{x(fitness.mean):.1f}" cy="{middle}"/>',
    ]
    said = f"effect {fitness.mean:+.3f} ± {_Z * fitness.sd:.3f}, joint {card.effect:+.3f}"
    trial = card.trial
    if trial is not None and trial.post_effect is not None and trial.post_sd is not None:
        low, high = trial.post_effect - _Z * trial.post_sd, trial.post_effect + _Z * trial.post_sd
        parts.append(
            f'<line class="after" x1="{x(low):.1f}" x2="{x(high):.1f}" y1="24" y2="24"/>'
            f'<rect class="after" x="{x(trial.post_effect) - 3:.1f}" y="21" width="6" height="6"/>'
        )
        said += f", after admission {trial.post_effect:+.3f} ± {_Z * trial.post_sd:.3f}"
    at = x(card.effect)
    parts.append(f'<path class="joint" d="M{at:.1f} {middle - 6}l6 6l-6 6l-6 -6z"/>')
    return svg(_WIDTH, _ROW, said, "".join(parts))


def _axis(reach: float) -> str:
    marks = ", ".join(f"{tick:+.2f}" for tick in ticks(-reach, reach))
    return (
        f'<p class="hint">All rows share one scale, from {-reach:+.2f} to {reach:+.2f} (round values: {marks}); what '
        "goes further is cut at the edge.</p>"
    )


def _reach(card: Card) -> float:
    fitness = _fitness(card)
    after = card.trial.post_effect if card.trial is not None and card.trial.post_effect is not None else 0.0
    return max(abs(card.effect), abs(fitness.mean) + _Z * fitness.sd, abs(after))


def _fitness(card: Card) -> Posterior:
    """Of its first objective; a card added by hand has none."""
    return next(iter(card.fitness.values()), Posterior(mean=0.0, sd=0.0, strata=0))
