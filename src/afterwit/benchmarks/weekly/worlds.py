"""Logs as a small team has them, simulated: tests of two texts, a question against a plain sentence.

Arm i of test s, in week t and context g, gets n impressions and Binomial(n, p) clicks with

    log p = log base + u_s + e_i + β(t, g) · [i asks a question],  u_s ~ N(0, 0.3²), e_i ~ N(0, noise²)

β is the world's truth. Tests are spread over the week and known a week later.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

import numpy as np

from afterwit.credit.items import Items
from afterwit.model import Value

START = datetime(2026, 1, 5, tzinfo=UTC)
WEEK = timedelta(days=7)
DECISION = "hook=question"
Context = Mapping[str, Value]

_THINGS = (
    "the harbour",
    "a lighthouse",
    "our garden",
    "this recipe",
    "the night train",
    "a paper boat",
    "the old mill",
)
_DOINGS = ("opens early", "needs a hand", "was rebuilt", "won a prize", "turns ten", "comes back", "is for sale")
_TAILS = ("this week", "in town", "after all", "once more", "for everyone", "by the river", "at last")


@dataclass(frozen=True, kw_only=True)
class World:
    """effect: β of a week, counted from 0, and a context. contexts: drawn per test, by a random number generator."""

    name: str
    effect: Callable[[int, Context], float]
    contexts: Callable[[np.random.Generator], Context] = lambda chance: MappingProxyType({})
    weeks: int = 20
    tests: int = 6
    impressions: int = 3000
    base: float = 0.03
    noise: float = 0.1

    def with_size(
        self, *, weeks: int | None = None, tests: int | None = None, impressions: int | None = None
    ) -> "World":
        return replace(
            self,
            weeks=weeks or self.weeks,
            tests=tests or self.tests,
            impressions=impressions or self.impressions,
        )

    def items(self, seed: int) -> Items:
        """Ripe items of the whole log; what was available by a moment is the reader's to cut."""
        chance = np.random.default_rng([seed, 16])
        n = self.weeks * self.tests
        strata = np.repeat(np.arange(n), 2)
        week = np.arange(n) // self.tests
        begun = np.datetime64(START.replace(tzinfo=None), "us") + (
            week * 7 * 24 * 60 + (np.arange(n) % self.tests) * (7 * 24 * 60 // self.tests)
        ).astype("timedelta64[m]")
        contexts = [dict(self.contexts(chance)) for _ in range(n)]
        subjects = [self._subject(chance) for _ in range(n)]
        asks = np.tile([True, False], n)
        beta = np.array([self.effect(int(t), g) for t, g in zip(week, contexts, strict=True)])
        log_rate = np.log(self.base) + chance.normal(0, 0.3, n)[strata] + chance.normal(0, self.noise, 2 * n)
        rate = np.minimum(np.exp(log_rate + beta[strata] * asks), 0.9)
        return Items(
            ids=np.array([f"t{s}-{'ab'[i]}" for s in range(n) for i in range(2)], dtype=object),
            strata=strata.astype(np.int64),
            texts=np.array(
                [f"{subjects[s]}{'?' if ask else '.'}" for s, ask in zip(strata, asks, strict=True)], dtype=object
            ),
            exposures=np.full(2 * n, float(self.impressions)),
            engagements={"click": chance.binomial(self.impressions, rate).astype(np.float64)},
            weights=np.ones(2 * n),
            first_delivered_at=begun[strata],
            available_at=begun[strata] + np.timedelta64(7, "D"),
            confirmable=np.ones(2 * n, dtype=np.bool_),
            contexts={
                field: np.array([contexts[s].get(field) for s in strata], dtype=object)
                for field in sorted({field for g in contexts for field in g})
            },
            declared=np.array([()] * (2 * n) + [None], dtype=object)[:-1],
        )

    @staticmethod
    def _subject(chance: np.random.Generator) -> str:
        words = " ".join(str(chance.choice(part)) for part in (_THINGS, _DOINGS, _TAILS))
        return words[0].upper() + words[1:]


def _log(lift: float) -> float:
    return float(np.log(lift))


def steady(lift: float) -> World:
    return World(name=f"effect {lift:g}", effect=lambda t, g: _log(lift))


def _one_of(**fields: tuple[Value, ...]) -> Callable[[np.random.Generator], Context]:
    return lambda chance: {name: values[int(chance.integers(len(values)))] for name, values in fields.items()}


def opposite() -> World:
    """+40 % in push, −30 % in email; ``device`` says nothing."""
    return World(
        name="opposite contexts",
        effect=lambda t, g: _log(1.4 if g["channel"] == "push" else 0.7),
        contexts=_one_of(channel=("push", "email"), device=("phone", "tablet", "desktop")),
    )


def two_fields() -> World:
    """+50 % for half-price offers by push, nothing elsewhere."""
    return World(
        name="two fields",
        effect=lambda t, g: _log(1.5) if (g["channel"], g["benefit"]) == ("push", "half price") else 0.0,
        contexts=_one_of(channel=("push", "email"), benefit=("half price", "free delivery")),
        weeks=30,
    )


def numeric() -> World:
    """+40 % from an age of 40 on, −25 % below."""
    return World(
        name="numeric field",
        effect=lambda t, g: _log(1.4 if float(g["age"]) >= 40 else 0.75),
        contexts=lambda chance: {"age": int(chance.integers(18, 70))},
    )


def proxy() -> World:
    """The channel decides; the device goes with it four times in five and only seems to."""

    def contexts(chance: np.random.Generator) -> Context:
        channel = ("push", "email")[int(chance.integers(2))]
        usual = "phone" if channel == "push" else "desktop"
        other = "desktop" if channel == "push" else "phone"
        return {"channel": channel, "device": usual if chance.random() < 0.8 else other}

    return replace(opposite(), name="a field that only seems to matter", contexts=contexts)


def change(at: int = 12) -> World:
    """+40 % until a week, −25 % afterwards."""
    return World(name="change", effect=lambda t, g: _log(1.4 if t < at else 0.75), weeks=at + 18)
