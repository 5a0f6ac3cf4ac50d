"""What makes a text unfit to be remembered unseen: length, loops, hidden characters, commands."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from afterwit.guard.patterns import COMPILED, Command
from afterwit.model.text import looping

Kind = Literal["long", "looping", "hidden"] | Command


@dataclass(frozen=True, kw_only=True)
class Concern:
    """Why a person should look at a text before it is used. quote: the place, shortened."""

    kind: Kind
    quote: str = ""

    def __str__(self) -> str:
        return f"{_SAYS[self.kind]}: {self.quote}" if self.quote else _SAYS[self.kind]


_SAYS: dict[Kind, str] = {
    "long": "it is too long",
    "looping": "it says one thing over and over",
    "hidden": "it holds characters that hide text or turn its direction",
    "control": "it holds marks that steer a model's prompt",
    "override": "it tells the reader to drop its instructions",
    "payment": "it tells the reader to send money to a named place",
    "leak": "it tells the reader to hand out data or secrets",
    "secrecy": "it tells the reader to keep something from the user",
    "shell": "it tells the reader to run commands",
}

_HIDDEN = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_UNSEEN = re.compile("[\u00ad\u200b\u2060-\u2064\ufeff]")  # harmless residue of web pages, but it splits words
_MARKS = "[\u0300-\u036f\u0610-\u061a\u064b-\u065f\u0670\u093c]"


def concerns(text: str, *, longest: int = 2_000) -> tuple[Concern, ...]:
    """Every reason to hold a text back for review, at most one a kind; empty for a text that may be used.

    longest: characters. Our own patterns: they see plain wording in a dozen languages and obvious disguises (full
    width, accents, invisible characters), not every paraphrase, so provenance and framing as data stay the first
    defence. A match is a reason to ask a person, never to delete.
    """
    found: dict[Kind, Concern] = {}
    if len(text) > longest:
        found["long"] = Concern(kind="long", quote=f"{len(text):,} characters, {longest:,} are allowed")
    if looping(text[: 50 * longest]):
        found["looping"] = Concern(kind="looping")
    if hidden := _HIDDEN.search(text):
        found["hidden"] = Concern(kind="hidden", quote=f"U+{ord(hidden[0]):04X}")
    bare = plain(text[: 50 * longest])
    for kind, pattern in COMPILED:
        if kind not in found and (match := pattern.search(bare)):
            found[kind] = Concern(kind=kind, quote=match[0][:80])
    return tuple(found.values())


def plain(text: str) -> str:
    """Lower case, compatibility forms and accents undone, invisible characters gone: what a reader makes of it."""
    visible = _UNSEEN.sub("", _HIDDEN.sub("", unicodedata.normalize("NFKC", text))).casefold()
    bare = re.sub(_MARKS, "", unicodedata.normalize("NFKD", visible))
    return re.sub(r"[^\S\n]+", " ", unicodedata.normalize("NFC", bare))
