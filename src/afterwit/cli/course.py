"""How the effect of a card went from round to round, drawn in characters."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from afterwit.model import Card, Edit, Round

_WIDTH = 41
_MOST = 20
_Z = 1.96


def course(card_id: str, history: Iterable[Edit], rounds: Iterable[Round]) -> list[tuple[str, str, str, str]]:
    """A row a round that moved the card: day, effect with 95 % interval, the interval drawn about 0, what happened."""
    at = {round_.id: round_.as_of for round_ in rounds}
    points: dict[datetime, tuple[Card, str]] = {}
    for edit in history:
        for card in edit.writes:
            day = at.get(card.provenance.round_id or "")
            if card.id == card_id and card.fitness and day is not None:
                before = points.get(day)
                told = "" if edit.operator == "reinforce" else f"{edit.operator}: {edit.reason}"[:60]
                points[day] = (card, before[1] if before and before[1] else told)
    shown = _thinned(points)
    widest = max((abs(m) + _Z * s for card, _ in shown.values() for m, s in [_numbers(card)]), default=1.0) or 1.0
    rows = []
    for day, (card, told) in shown.items():
        mean, sd = _numbers(card)
        low, high = mean - _Z * sd, mean + _Z * sd
        figures = f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]"
        rows.append((f"{day:%Y-%m-%d}", figures, _drawn(low, mean, high, widest), told))
    return rows


def _numbers(card: Card) -> tuple[float, float]:
    posterior = next(iter(card.fitness.values()))
    return posterior.mean, posterior.sd


def _thinned(points: Mapping[datetime, tuple[Card, str]]) -> dict[datetime, tuple[Card, str]]:
    """All rounds in which something happened, and of the others as many as fit, evenly."""
    days: Sequence[datetime] = sorted(points)
    step = max(1, -(-len(days) // _MOST))
    return {day: points[day] for i, day in enumerate(days) if points[day][1] or i % step == 0 or i == len(days) - 1}


def _drawn(low: float, mean: float, high: float, widest: float) -> str:
    def place(value: float) -> int:
        return round((value / widest + 1) / 2 * (_WIDTH - 1))

    line = [" "] * _WIDTH
    line[place(low) : place(high) + 1] = "─" * (place(high) - place(low) + 1)
    line[_WIDTH // 2] = "│"
    line[place(mean)] = "●"
    return "".join(line)
