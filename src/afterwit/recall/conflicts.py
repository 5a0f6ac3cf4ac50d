"""Pairs of cards by hand that cannot both be right as they stand, found by their words alone.

Two cards of one task and overlapping condition say different things where their words are the same but for

* a negation: "Ask first." and "Never ask first.", "Prefer long titles." and "Avoid long titles.";
* a number after a verb that takes one: "The room has 2 doors." and "The room has 3 doors.";
* a name where one alone can stand: "Device A is a Synology NAS." and "Device A is a Fnos NAS.", "The manager is Ana.",
  "Ana works at Aster.";
* one of several values that exclude each other: "The light is on." and "The light is off."

All else is no conflict: two likes, two roles, a place and the country around it. Conditions, questions, alternatives
and quantities with a bound are left alone. English and German; in doubt two cards stand in peace. What words do not
tell, a maker from a system for example, a person does: see ``Card.beside``.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from typing import TypeVar

from afterwit.model import Card
from afterwit.model.said import said

T = TypeVar("T")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NOT = _set("not never nicht nie niemals kein keine keinen keiner keinem")
_WHOLE = {"cannot": "can not", "can't": "can not", "won't": "will not", "avoid": "not use", "no": "not a"}
_SAME = {"prefer": "use", "an": "a", "always": "", "immer": "", "ein": "", "eine": "", "einen": ""}
# Words under which neither of two opposite sentences need be wrong.
_OPEN = _set(
    "? if when whenever unless whether while until because although but or and only sometimes often usually maybe may "
    "might can could other another wenn falls ob während bis weil aber oder und nur manchmal oft meist vielleicht"
)
_IS = _set("is ist")
_COUNTED = _set("is ist has have hat haben costs cost kostet weighs wiegt takes dauert measures misst")
_EMPLOYED = (("works", "at"), ("works", "for"), ("arbeitet", "bei"))
_SINGLE = _set(
    "name capital manager boss ceo owner employer maker manufacturer brand password port host address email birthday "
    "deadline currency timezone version hauptstadt chef chefin besitzer arbeitgeber hersteller passwort adresse "
    "geburtstag frist währung zeitzone"
)
_UNKNOWN = _set("a an some any one it this that he she they who ein eine es er sie man")
_EXCLUSIVE = tuple(
    _set(values)
    for values in (
        "red blue green yellow black white grey brown orange purple pink",
        "rot blau grün gelb schwarz weiß grau braun lila rosa",
        "on off",
        "an aus",
        "open closed",
        "offen geschlossen",
        "enabled disabled",
        "true false",
        "left right",
        "allowed forbidden",
        "erlaubt verboten",
        "mandatory optional",
    )
)
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*")
_OF_A_PEOPLE = ("ish", "ese", "ian", "ean", "can", "isch")
_NAME_WORDS = 3


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """newer, older: by when they were written. reason: where they part, for people."""

    newer: Card
    older: Card
    reason: str


@dataclass(frozen=True, kw_only=True)
class _Claim:
    """What a text says about something: of one frame, two values that differ cannot both be right."""

    frame: tuple[str, ...]
    value: str


def disagreements(cards: Iterable[Card]) -> tuple[Disagreement, ...]:
    """The pairs to settle, newest first; those that somebody found to be both right are left out."""
    framed: defaultdict[tuple[str, tuple[str, ...]], list[tuple[Card, str]]] = defaultdict(list)
    for card in cards:
        if card.live and card.provenance.trust != "evidence":
            key = "" if card.key == card.guidance else said(card.key)
            for claim in _claims(card.guidance):
                framed[key, claim.frame].append((card, claim.value))
    found: dict[frozenset[str], Disagreement] = {}
    for held in framed.values():
        for (one, its), (other, another) in combinations(held, 2):
            if _part(its, another) and _meet(one, other):
                older, newer = sorted((one, other), key=lambda card: (card.valid_from, card.id))
                reason = f"“{its if newer is one else another}” or “{another if newer is one else its}”"
                found.setdefault(frozenset((one.id, other.id)), Disagreement(newer=newer, older=older, reason=reason))
    return tuple(sorted(found.values(), key=lambda d: (d.newer.valid_from, d.newer.id, d.older.id), reverse=True))


def newer_first(found: Sequence[T], newer: Mapping[T, Sequence[T]]) -> list[T]:
    """As many as were found, each behind what is newer and contradicts it, whether that was found or not."""
    order = dict.fromkeys(each for one in found for each in (*newer.get(one, ()), one))
    return list(order)[: len(found)]


def contradicted(pairs: Iterable[Disagreement]) -> dict[str, list[str]]:
    """Card id → ids of the newer cards that contradict it, newest first."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for pair in pairs:
        found[pair.older.id].append(pair.newer.id)
    return dict(found)


def _meet(one: Card, other: Card) -> bool:
    """Whether both are there for one task at one time, and nobody has settled it."""
    older, newer = sorted((one, other), key=lambda card: card.valid_from)
    over = older.valid_until is not None and older.valid_until <= newer.valid_from
    settled = one.id in other.beside and other.id in one.beside
    return one.id != other.id and not over and not settled and one.when.overlaps(other.when)


def _part(one: str, other: str) -> bool:
    """Neither the same nor one inside the other, as Ana and Ana Lopez, 5 and 5.0."""
    if _NUMBER.fullmatch(one) and _NUMBER.fullmatch(other):
        return _amount(one) != _amount(other) and re.sub("[.,]", "", one) != re.sub("[.,]", "", other)
    ours, theirs = set(one.split()), set(other.split())
    return not (ours <= theirs or theirs <= ours)


def _amount(number: str) -> float | str:
    try:
        return float(number.replace(",", "."))
    except ValueError:
        return number


@lru_cache(maxsize=20_000)
def _claims(text: str) -> tuple[_Claim, ...]:
    words = said(text).split()
    if _OPEN & set(words):
        return ()
    return tuple(dict.fromkeys((*_polarity(words), *_counted(words), *_named(words, text), *_exclusive(words))))


def _polarity(words: list[str]) -> Iterator[_Claim]:
    plain = " ".join(_WHOLE.get(word, re.sub(r"n't$", " not", word)) for word in words)
    plain = re.sub(r"\bkein(\w*)", r"not ein\1", plain)
    plain = re.sub(r"\b(?:do|does|did) not\b", "not", plain)
    kept = [word for word in plain.split() if word not in _NOT]
    negations = len(plain.split()) - len(kept)
    if negations <= 1:
        frame = [found for word in kept if (found := _SAME.get(word, word))]
        yield _Claim(frame=("polarity", *frame), value="no" if negations else "yes")


def _counted(words: list[str]) -> Iterator[_Claim]:
    for place, word in enumerate(words[1:-1], start=1):
        if word in _COUNTED and _NUMBER.fullmatch(words[place + 1]) and words[0] not in _UNKNOWN:
            rest = words[place + 2 :]
            yield _Claim(frame=("number", *words[: place + 1], "#", *rest), value=words[place + 1])


def _named(words: list[str], text: str) -> Iterator[_Claim]:
    """A name after what takes one: an article and a kind (a … NAS), a noun of which there is one, an employer."""
    names = _names(text)
    for place, word in enumerate(words[1:-1], start=1):
        subject, after = words[:place], words[place + 1 :]
        if subject[0] in _UNKNOWN:
            continue
        if word in _IS and after[0] in ("a", "an", "ein", "eine") and len(after) == 3 and after[1] in names:
            yield _Claim(frame=("kind", *subject, "is", after[2]), value=after[1])
        elif word in _IS and _SINGLE & {subject[-1], *_before_of(subject)} and _is_name(after, names):
            yield _Claim(frame=("name", *subject, "is"), value=" ".join(after))
        elif (word, after[0]) in _EMPLOYED and _is_name(after[1:], names):
            yield _Claim(frame=("name", *subject, word, after[0]), value=" ".join(after[1:]))


def _before_of(subject: list[str]) -> set[str]:
    return {word for word, following in pairwise(subject) if following in ("of", "von")}


def _names(text: str) -> frozenset[str]:
    """Words written as names are, the first of the text left out."""
    written = re.findall(r"[^\s,;:!?()“”\"]+", text)[1:]
    shown = [word for word in written if any(c.isupper() or c.isdigit() or c == "@" for c in word)]
    return frozenset(part for word in shown for part in said(word).split())


def _is_name(words: list[str], names: frozenset[str]) -> bool:
    return 0 < len(words) <= _NAME_WORDS and all(w in names and not w.endswith(_OF_A_PEOPLE) for w in words)


def _exclusive(words: list[str]) -> Iterator[_Claim]:
    for place, word in enumerate(words[1:-1], start=1):
        if word in _IS and words[0] not in _UNKNOWN:
            value, rest = words[place + 1], words[place + 2 :]
            for number, values in enumerate(_EXCLUSIVE):
                if value in values and (not rest or rest[0] in ("on", "in", "at", "by", "am", "im")):
                    yield _Claim(frame=(f"exclusive {number}", *words[: place + 1], "#", *rest), value=value)
