"""Words that came and went, and estimates with their intervals, as HTML that is safe and SVG that needs no colour."""

import math
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from markupsafe import Markup, escape

from afterwit.model import Card, Edit

_WIDTH, _Z = 320, 1.96


def word_diff(before: str, after: str) -> Markup:
    """Words taken out and put in, marked as such; scripts without spaces are compared by character."""
    old, new = _pieces(before), _pieces(after)
    found = Markup()
    for kind, a, b, c, d in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if kind == "equal":
            found += escape("".join(old[a:b]))
            continue
        if a < b:
            found += Markup("<del>{}</del>").format("".join(old[a:b]))
        if c < d:
            found += Markup("<ins>{}</ins>").format("".join(new[c:d]))
    return found


def versions(card: Card, history: Sequence[Edit]) -> list[tuple[Edit, Card, Markup]]:
    """Each version with the edit that wrote it and what it changed of the words, oldest first."""
    lives = [(edit, written) for edit in history for written in edit.writes if written.id == card.id]
    first = [(*lives[0], escape(lives[0][1].guidance))] if lives else []
    return first + [(edit, new, word_diff(old.guidance, new.guidance)) for (_, old), (edit, new) in pairwise(lives)]


def interval(card: Card) -> Markup:
    """The effect on the rate with its 95 % interval, from a quarter less to a third more; the figures beside it."""
    if not card.fitness:
        return Markup("no evidence yet")
    objective, fitness = next(iter(card.fitness.items()))
    low, mean, high = (fitness.mean + z * fitness.sd for z in (-_Z, 0, _Z))
    told = f"{objective} {_percent(mean)} [{_percent(low)}, {_percent(high)}], {fitness.strata} strata"
    return Markup(
        '<svg class="interval" viewBox="0 0 {w} 20" role="img" aria-label="{told}">'
        '<line class="zero" x1="{zero}" y1="0" x2="{zero}" y2="20"/>'
        '<line class="reach" x1="{low}" y1="10" x2="{high}" y2="10"/>'
        '<circle cx="{mean}" cy="10" r="5"/></svg> <span class="figures">{told}</span>'
    ).format(w=_WIDTH, told=told, zero=_x(0), low=_x(low), mean=_x(mean), high=_x(high))


def _x(effect: float) -> float:
    return round(_WIDTH / 2 + max(-0.3, min(0.3, effect)) / 0.3 * (_WIDTH / 2 - 6), 1)


def _percent(effect: float) -> str:
    return f"{100 * math.expm1(effect):+.1f} %" if math.isfinite(effect) else "unknown"


def _pieces(text: str) -> list[str]:
    if text.isascii() or " " in text.strip():
        return [piece for word in text.split(" ") for piece in (word, " ")][:-1]
    return list(text)
