"""The extractive profile: a bounded summary that is nothing but its text. What is written can be read back.

    # Profile
    49 interactions, 2011-03-02 to 2018-03-02
    ## Interests
    - playstation: 12 times, weight 2.41, last 2018-03-02
    ## Brands | ## Categories
    - Nintendo: 5 times, weight 0.80, last 2017-01-05
    ## Prices
    - EUR: 12.00 to 59.00, mean 25.10 of 14, lately 41.00
    ## Changed lately
    - more: playstation
    ## Evidence
    - 2018-03-02 · chose · Bloodborne
    ## Notes
    - what a person wrote

A weight counts occurrences, each halved with every five later interactions: our reconstruction of recency.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

HALF_LIFE = 5.0
TALLIES = ("Interests", "Brands", "Categories")
_HEADING = re.compile(r"^## (.+)$")
_SPAN = re.compile(r"^(\d+) interactions?(?:, (\d{4}-\d\d-\d\d) to (\d{4}-\d\d-\d\d))?$")
_TALLY = re.compile(r"^- (.+): (\d+) times?, weight (\d+\.\d+)(?:, last (\d{4}-\d\d-\d\d))?$")
_PRICE = re.compile(r"^- (\S+): ([\d.]+) to ([\d.]+), mean ([\d.]+) of (\d+), lately ([\d.]+)$")


@dataclass(frozen=True, kw_only=True)
class Tally:
    """times: occurrences in all; weight: those of late count more; last: ISO date, "" where undated."""

    name: str
    times: int
    weight: float
    last: str = ""

    def told(self) -> str:
        plural = "time" if self.times == 1 else "times"
        last = f", last {self.last}" if self.last else ""
        return f"- {self.name}: {self.times} {plural}, weight {self.weight:.2f}{last}"


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Of one currency. lately: with the weights above."""

    currency: str
    low: float
    high: float
    mean: float
    n: int
    lately: float

    def told(self) -> str:
        return (
            f"- {self.currency}: {self.low:.2f} to {self.high:.2f}, mean {self.mean:.2f} of {self.n}, "
            f"lately {self.lately:.2f}"
        )


@dataclass(frozen=True, kw_only=True)
class Sketch:
    """tallies: section → name → tally. evidence: lines, newest first. changed, notes: lines."""

    interactions: int = 0
    first: str = ""
    last: str = ""
    tallies: Mapping[str, Mapping[str, Tally]] = field(default_factory=dict)
    prices: Mapping[str, Prices] = field(default_factory=dict)
    changed: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def tally(self, section: str) -> Mapping[str, Tally]:
        return self.tallies.get(section, {})


def read(text: str) -> Sketch:
    """The sketch that a text says. A line that does not read as its section has it becomes a note: nothing that a
    person wrote is lost."""
    section, interactions, first, last = "", 0, "", ""
    tallies: dict[str, dict[str, Tally]] = {name: {} for name in TALLIES}
    prices: dict[str, Prices] = {}
    lines: dict[str, list[str]] = {"Changed lately": [], "Evidence": [], "Notes": []}
    for raw in text.splitlines():
        line = raw.strip()
        heading = _HEADING.match(line)
        span = _SPAN.match(line)
        if heading:
            section = heading.group(1)
        elif span and not section:
            interactions, first, last = int(span.group(1)), span.group(2) or "", span.group(3) or ""
        elif not line or line.startswith("# "):
            continue
        elif section in tallies and (found := _TALLY.match(line)):
            name, times, weight, seen = found.groups()
            tallies[section][name] = Tally(name=name, times=int(times), weight=float(weight), last=seen or "")
        elif section == "Prices" and (found := _PRICE.match(line)):
            currency, low, high, mean, n, lately = found.groups()
            prices[currency] = Prices(
                currency=currency, low=float(low), high=float(high), mean=float(mean), n=int(n), lately=float(lately)
            )
        elif section != "Constraints":
            lines[section if section in lines else "Notes"].append(line.removeprefix("- "))
    return Sketch(
        interactions=interactions,
        first=first,
        last=last,
        tallies=tallies,
        prices=prices,
        changed=tuple(lines["Changed lately"]),
        evidence=tuple(lines["Evidence"]),
        notes=tuple(lines["Notes"]),
    )


def sections(sketch: Sketch) -> list[tuple[str, list[str]]]:
    """Heading → lines, in the order of a profile; tallies by what they say, heaviest first."""
    span = f", {sketch.first} to {sketch.last}" if sketch.first else ""
    plural = "interaction" if sketch.interactions == 1 else "interactions"
    found: list[tuple[str, list[str]]] = [("", [f"{sketch.interactions} {plural}{span}"])]
    found.append(("Notes", [f"- {line}" for line in sketch.notes]))
    found.append(("Changed lately", [f"- {line}" for line in sketch.changed]))
    found.append(("Prices", [prices.told() for _, prices in sorted(sketch.prices.items())]))
    found += [(name, [tally.told() for tally in sketch.tally(name).values()]) for name in reversed(TALLIES)]
    found.append(("Evidence", [f"- {line}" for line in sketch.evidence]))
    return found


def written(parts: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Markdown of headings and lines; empty sections are left out."""
    blocks = ["# Profile"]
    for heading, lines in parts:
        if lines:
            blocks.append("\n".join([f"## {heading}", *lines] if heading else lines))
    return "\n".join(blocks) + "\n"
