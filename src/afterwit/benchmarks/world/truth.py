"""What is true in a world: what each decision does, where, and since when. Policies never see it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from afterwit.benchmarks.world.parameters import Parameters
from afterwit.credit.items import Bools, Floats, Ints
from afterwit.model import Condition, Stance

FIELDS = ("channel", "benefit", "audience")


@dataclass(frozen=True, kw_only=True, eq=False)
class Truth:
    """contexts: (C, 3) levels of `FIELDS`. effect, click: log rate ratio of conversions per exposure and of clicks,
    (eras, C, slots, values); the second era begins with the shift. unfit: (C, slots, values). liked: how much the
    placing policy likes a value, (slots, values). trend: where fashion goes, (slots, values). turns: decision → field
    and level where its effect turns round."""

    parameters: Parameters
    contexts: tuple[tuple[str, str, str], ...]
    effect: Floats
    click: Floats
    unfit: Bools
    liked: Floats
    trend: Floats
    turns: Mapping[str, tuple[str, str]]

    @staticmethod
    def make(parameters: Parameters, seed: int) -> "Truth":
        rng = np.random.default_rng([seed, 1])
        d, c = parameters.decisions, parameters.contexts
        shape = (d.slots, d.values)
        contexts = tuple((ch, b, a) for ch in c.channels for b in c.benefits for a in c.audiences)
        real = rng.random(shape) < d.real
        size = np.where(real, rng.uniform(d.low, d.high, shape) * rng.choice((-1, 1), shape), 0.0)
        turned = np.zeros((len(contexts), *shape), dtype=np.bool_)
        turns: dict[str, tuple[str, str]] = {}
        for slot, value in zip(*np.nonzero(real & (rng.random(shape) < d.conditional)), strict=True):
            field, levels = ((0, c.channels), (2, c.audiences))[int(rng.integers(2))]
            level = levels[int(rng.integers(len(levels)))]
            turned[[i for i, context in enumerate(contexts) if context[field] == level], slot, value] = True
            turns[decision(slot, value)] = (FIELDS[field], level)
        of_channel = rng.random((len(c.channels), *shape)) < d.unfit
        unfit = np.stack([of_channel[c.channels.index(channel)] for channel, _, _ in contexts])
        drifting = real & (rng.random(shape) < parameters.shift.drift)
        eras = np.stack([size, np.where(drifting, -size, size)])
        effect = np.where(turned[None], -eras[:, None], eras[:, None]) - d.unfit_cost * unfit[None]
        bait = real & (rng.random(shape) < d.clickbait)
        click = np.where(bait, -0.5, 0.7) * effect
        liked = rng.normal(size=shape)
        trend = rng.normal(size=shape)
        return Truth(
            parameters=parameters,
            contexts=contexts,
            effect=effect,
            click=click,
            unfit=unfit,
            liked=liked,
            trend=trend,
            turns=turns,
        )

    @cached_property
    def place(self) -> Mapping[tuple[str, str, str], int]:
        return {context: i for i, context in enumerate(self.contexts)}

    @property
    def names(self) -> tuple[str, ...]:
        """Every decision, slot by slot."""
        d = self.parameters.decisions
        return tuple(decision(slot, value) for slot in range(d.slots) for value in range(d.values))

    def era(self, round_: int) -> int:
        """round_: 1 for the first after the warm-up, 0 and below inside it."""
        return int(0 < self.parameters.shift.round <= round_)

    def mix(self, round_: int) -> Floats:
        """How often each context comes up, (C,): the shift moves weight from the first half of the channels to the
        other."""
        channels = self.parameters.contexts.channels
        half = len(channels) // 2
        moved = self.parameters.shift.mix if self.parameters.shift.round else 0.0
        heavy, light = (1 + moved), (1 - moved)
        first, second = (light, heavy) if self.era(round_) else (heavy, light)
        weight = np.array([first if channels.index(c[0]) < half else second for c in self.contexts])
        return np.asarray(weight / weight.sum(), dtype=np.float64)

    def rate(self, context: int, chosen: Ints, era: int) -> float:
        """Log rate of a message in a context, less the base. chosen: value by slot, −1 for none, (slots,)."""
        slots = np.flatnonzero(chosen >= 0)
        return float(self.effect[era, context, slots, chosen[slots]].sum())

    def bounds(self, context: int, era: int) -> tuple[float, float]:
        """The worst and best log rate that any message can have there."""
        table = self.effect[era, context]
        return float(np.minimum(table.min(axis=1), 0).sum()), float(np.maximum(table.max(axis=1), 0).sum())

    def breaks(self, context: int, chosen: Ints) -> int:
        """How many of a message's choices its channel does not take."""
        slots = np.flatnonzero(chosen >= 0)
        return int(self.unfit[context, slots, chosen[slots]].sum())

    @cached_property
    def relative(self) -> Floats:
        """What a value does beside what messages without it do on average, as a contrast would find it; as `effect`."""
        d = self.parameters.decisions
        share = (1 - d.absent) / d.values
        others = self.effect.sum(axis=3, keepdims=True) - self.effect
        return np.asarray(self.effect - others * share / (1 - share), dtype=np.float64)

    def merit(self, advice: Stance, when: Condition, era: int) -> float:
        """Mean effect of advice where a condition holds, in the advised direction."""
        inside = self.holding(when)
        slot, value = parts(advice.decision)
        found = self.relative[era, inside, slot, value]
        return (1 if advice.prefer else -1) * float(found.mean()) if len(found) else 0.0

    def holding(self, when: Condition) -> Bools:
        return np.array([when.holds(self.context(i)) for i in range(len(self.contexts))])

    def context(self, place: int) -> dict[str, str]:
        return dict(zip(FIELDS, self.contexts[place], strict=True))


def decision(slot: int, value: int) -> str:
    """The decision key of a slot's value."""
    name, way = SLOTS[slot % len(SLOTS)], VALUES[value % len(VALUES)]
    return f"{name}{slot // len(SLOTS) or ''}={way}{value // len(VALUES) or ''}"


def parts(name: str) -> tuple[int, int]:
    """Slot and value of a decision key."""
    return _PLACES[name]


SLOTS = (
    "hook", "tone", "length", "offer", "proof", "emoji", "image", "call", "greeting", "urgency", "numbers", "names",
    "season", "colour", "format", "closing",
)  # fmt: skip
VALUES = ("question", "story", "plain", "list")
_PLACES = {decision(slot, value): (slot, value) for slot in range(256) for value in range(32)}
