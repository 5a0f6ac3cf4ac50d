"""Plans as prose without arguments: one sentence a sub-goal, in one of several phrasings, and what it asks for.

Reading a plan needs the tools' names alone: a sentence means the tool whose words it holds, of several the longest.
"""

import random
import re
from collections.abc import Sequence

from afterwit.benchmarks.tau2.environment import Call, Tool
from afterwit.model import normalised

_OPENINGS = ("", "Then ", "Next, ", "After that, ", "Now ")
_ASKING = ("have the customer", "ask the customer to", "let the customer")
_SAID = {
    "book": ("make",),
    "calculate": ("work out the figures",),
    "cancel": ("call off",),
    "check": ("look at", "inspect"),
    "connect": ("dial into",),
    "disable": ("turn off",),
    "disconnect": ("leave",),
    "enable": ("turn on",),
    "exchange": ("swap",),
    "find": ("locate",),
    "get": ("look up", "fetch"),
    "grant": ("give",),
    "list": ("go through",),
    "make": ("go through with",),
    "modify": ("change", "alter"),
    "reboot": ("restart",),
    "refuel": ("top up",),
    "reseat": ("take out and put back",),
    "reset": ("restore",),
    "resume": ("reactivate",),
    "return": ("take back",),
    "run": ("start",),
    "search": ("look for",),
    "send": ("issue",),
    "set": ("choose",),
    "suspend": ("pause",),
    "toggle": ("switch", "flip"),
    "transfer": ("hand over",),
    "update": ("change", "adjust"),
}


def prose(calls: Sequence[Call], rng: random.Random) -> str:
    """One sentence a call, without its arguments."""
    sentences = []
    for place, call in enumerate(calls):
        words = (rng.choice(_OPENINGS) if place else "") + _phrase(call, rng)
        sentences.append(words[0].upper() + words[1:])
    return ". ".join(sentences) + "."


def sentences(plan: str) -> list[str]:
    return [sentence for sentence in re.split(r"[.;!?\n]+", plan) if sentence.strip()]


def meant(sentence: str, tools: Sequence[Tool]) -> Tool | None:
    """The tool that a sentence asks for; None where it names none."""
    words = " ".join(re.findall(r"\w+", normalised(sentence)))
    by = "user" if any(asking in words for asking in _ASKING) else "assistant"
    found, longest = None, 0
    for tool in tools:
        length = _held(f" {words} ", tool) if tool.by == by else 0
        if length > longest:
            found, longest = tool, length
    return found


def _phrase(call: Call, rng: random.Random) -> str:
    verb, *nouns = call.tool.split("_")
    said = rng.choice((verb, *_SAID.get(verb, ())))
    article = "" if not nouns or nouns[0] in ("to", "id", "by") else "the "
    words = " ".join((said, article + " ".join(nouns))).strip()
    return f"{rng.choice(_ASKING)} {words}" if call.by == "user" else words


def _held(words: str, tool: Tool) -> int:
    """How many letters of the tool's verb and nouns stand in the words, in this order; 0 where one is missing."""
    verb, *nouns = tool.name.split("_")
    noun = " ".join(nouns)
    for said in (verb, *_SAID.get(verb, ())):
        at = words.find(f" {said} ")
        if at >= 0 and f" {noun} ".replace("  ", " ") in words[at + len(said) + 1 :]:
            return len(verb) + len(noun)
    return 0
