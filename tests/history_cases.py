"""What may happen to a memory, in any order, for the tests that hold whatever happens."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from afterwit import Memory
from afterwit.errors import CapacityExceeded
from round_cases import DAY, START, at, know, trials

EFFECTS = st.fixed_dictionaries({word: st.sampled_from([-0.8, -0.4, 0.0, 0.5]) for word in ("magic", "tonic")})


@dataclass(frozen=True, kw_only=True)
class Shown:
    """Tests of one text against another; forty are enough to learn from, eight are not."""

    count: int
    effects: Mapping[str, float]
    noise: int

    def happen(self, memory: Memory, day: int) -> int:
        know(memory, trials(self.count, self.effects, first=day, noise=self.noise))
        return day + self.count + 8


@dataclass(frozen=True, kw_only=True)
class Evolved:
    final: bool
    approval: bool

    def happen(self, memory: Memory, day: int) -> int:
        made = memory.evolve(final=self.final, approval=self.approval)
        if self.approval:
            memory.approve(made.id)
        return day


@dataclass(frozen=True, kw_only=True)
class Said:
    text: str
    word: str
    prefer: bool

    def happen(self, memory: Memory, day: int) -> int:
        memory.add(self.text, key="push", **{"prefer" if self.prefer else "avoid": f"word={self.word}"})
        return day


@dataclass(frozen=True, kw_only=True)
class Undone:
    days: int

    def happen(self, memory: Memory, day: int) -> int:
        memory.rollback(to=START + max(0, day - self.days) * DAY)
        return day


@dataclass(frozen=True, kw_only=True)
class Deleted:
    def happen(self, memory: Memory, day: int) -> int:
        if memory.cards():
            memory.delete(memory.cards()[0].id)
        return day


STEPS = st.one_of(
    st.builds(Shown, count=st.sampled_from([8, 40]), effects=EFFECTS, noise=st.sampled_from([0, 3])),
    st.builds(Evolved, final=st.booleans(), approval=st.booleans()),
    st.builds(
        Said,
        text=st.sampled_from(
            ["Say so.", "Never say so.", "Say it at once, " * 6, " ".join(f"word{i}" for i in range(70))]
        ),
        word=st.sampled_from(["magic", "tonic"]),
        prefer=st.booleans(),
    ),
    st.builds(Undone, days=st.sampled_from([1, 40])),
    st.builds(Deleted),
)


@st.composite
def histories(draw: st.DrawFn) -> list[Any]:
    """Something to learn from, a round, and whatever else happens; a round at the end."""
    first = Shown(count=40, effects=draw(EFFECTS), noise=draw(st.sampled_from([0, 3])))
    last = Evolved(final=draw(st.booleans()), approval=False)
    return [first, Evolved(final=False, approval=False), *draw(st.lists(STEPS, min_size=2, max_size=4)), last]


def lived(memory: Memory, history: list[Any]) -> Iterator[None]:
    """Lets one step after the other happen. Only what is said by hand may meet a full bank: a round never does."""
    day = 0
    for step in history:
        try:
            day = step.happen(at(memory, START + day * DAY), day)
        except CapacityExceeded:
            assert isinstance(step, Said)
        yield
