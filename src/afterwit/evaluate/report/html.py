"""Small pieces of HTML and SVG; every text goes through `escaped`."""

import html
import unicodedata
from collections.abc import Sequence

from afterwit.model import Interval


def escaped(value: object) -> str:
    """Safe as text and in attributes; control characters, which no XML may hold, become spaces."""
    text = "".join(" " if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" else c for c in str(value))
    return html.escape(text, quote=True)


def named(name: str) -> str:
    """A name of the record as people write it: ``random_replacement`` is "random replacement"."""
    return escaped(name.replace("_", " "))


def table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells are HTML already. The first cell of a row is its header; wide tables scroll, by keyboard too."""
    head = "".join(f'<th scope="col">{named(name)}</th>' for name in columns)
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>{"".join(f"<td>{cell}</td>" for cell in row[1:])}</tr>' for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escaped(caption)}"><table>'
        f"<caption>{named(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def percent(figure: Interval | None, *, signed: bool = True) -> str:
    """A share with its interval: ``+8.1 % [+5.5, +10.8]``."""
    if figure is None:
        return '<span class="none">none</span>'
    sign = "+" if signed else ""
    text = f"{100 * figure.value:{sign}.1f} %"
    if figure.low is None or figure.high is None:
        return text
    return f'{text} <span class="range">[{100 * figure.low:{sign}.1f}, {100 * figure.high:{sign}.1f}]</span>'


def number(figure: Interval, *, signed: bool = False) -> str:
    """A figure that is no share, with its interval: ``0.731 [0.702, 0.760]``."""
    sign = "+" if signed else ""
    if abs(figure.value) >= 100 or figure.value == round(figure.value):
        told = ",.1f" if figure.value != round(figure.value) else ",.0f"
    else:
        told = ".3f"
    text = f"{figure.value:{sign}{told}}"
    if figure.low is None or figure.high is None or figure.low == figure.high:
        return text
    return f'{text} <span class="range">[{figure.low:{sign}{told}}, {figure.high:{sign}{told}}]</span>'


def svg(width: int, height: int, title: str, content: str, *, fluid: bool = False) -> str:
    """fluid: as wide as its place, keeping its shape."""
    size = 'width="100%"' if fluid else f'width="{width}" height="{height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {size} role="img" '
        f'aria-label="{escaped(title)}"><title>{escaped(title)}</title>{content}</svg>'
    )


def ticks(low: float, high: float, *, about: int = 4) -> list[float]:
    """Round values that span an axis."""
    span = max(high - low, 1e-9)
    step = 10.0**-12
    for candidate in (m * 10.0**e for e in range(-6, 7) for m in (1, 2, 5)):
        if span / candidate <= about + 1:
            step = candidate
            break
    first = -(-low // step)
    return [k * step for k in range(int(first), int(high // step) + 1)]
