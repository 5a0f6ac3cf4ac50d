"""Under which keys a card is filed, so that one card is found among many without reading the others."""

import re

from afterwit.model import Card, content_hash, normalised
from afterwit.model.said import said
from afterwit.recall.render import line_forms, plain, short_id

_MARK = re.compile(r"\[([0-9a-f]{8})\]")


def filed(card: Card) -> frozenset[str]:
    """What it says and where; the mark and the line by which a transcript quotes it; the decision of its stance and
    that decision's name."""
    keys = {said_key(card), f"mark:{short_id(card)}", _line_key(plain(card.guidance))}
    if card.stance is not None:
        keys |= {decision_key(card.stance.decision), name_key(card.stance.decision)}
    return frozenset(keys)


def said_key(card: Card) -> str:
    """Equal for two cards of a bank that say the same of the same task under the same condition."""
    stance = str(card.stance).removesuffix(normalised(card.guidance)) if card.stance else ""
    return f"said:{content_hash(said(card.key), said(card.guidance), str(card.when), stance)[:32]}"


def decision_key(decision: str) -> str:
    return f"decision:{content_hash(decision)[:32]}"


def name_key(decision: str) -> str:
    return f"name:{content_hash(decision.partition('=')[0])[:32]}"


def quoted_keys(text: str) -> frozenset[str]:
    """Of the cards that a text quotes, by their mark or as a line; see `afterwit.recall.render.contains_recalled`."""
    marks = {f"mark:{mark}" for mark in _MARK.findall(text)}
    return frozenset(marks | {_line_key(form) for form in line_forms(text)})


def _line_key(line: str) -> str:
    return f"line:{content_hash(normalised(line))[:32]}"
