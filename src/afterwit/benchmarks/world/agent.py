"""A frozen agent that writes messages and follows recalled cards; what it does stands here, so it is known.

For each slot it takes the value that the first card in order prefers, unless an earlier card says to avoid it; without
advice it does what it always does, unless a card says to avoid that. Cards in words alone are read as an LLM would read
them: the sentence names a way to do it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from afterwit.benchmarks.world.truth import decision
from afterwit.model import Card, Citation, Decision, Draft, Stance, Task, content_hash

_SAID = re.compile(r"\b(prefer|avoid) ([a-z]+\d*)=([a-z]+\d*)", re.IGNORECASE)


def advice(card: Card) -> Stance | None:
    """What a card tells the agent to do: by its stance, or in words."""
    if card.stance is not None:
        return card.stance
    said = _SAID.search(card.guidance)
    return Stance(decision=f"{said[2]}={said[3]}", prefer=said[1].lower() == "prefer") if said else None


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One slot of a message. value: None where it is left empty. usual: what the agent does without advice.
    behind: the cards that the choice hangs on; named: the decision key that they are cited for, None without any.
    supporting: all cards that advise it."""

    slot: str
    value: str | None
    usual: str | None
    behind: tuple[str, ...]
    named: str | None
    supporting: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Agent:
    """slots, values: of its menu. absent: share of slots that it usually leaves empty. hitch: chance that it also cites
    a card that had no part in a decision."""

    slots: int
    values: int
    absent: float
    hitch: float

    @property
    def identity(self) -> str:
        return f"world agent {self.slots} {self.values} {self.absent} {self.hitch}"

    @cached_property
    def menu(self) -> tuple[str, ...]:
        return tuple(decision(slot, value) for slot in range(self.slots) for value in range(self.values))

    def __call__(self, task: Task, cards: Sequence[Card], *, seed: int = 0) -> Draft:
        choices = self.choose(task, cards)
        decisions, citations = [], []
        for choice in choices:
            if choice.named is not None:
                name, _, value = choice.named.partition("=")
                decisions.append(Decision(name=name, value=value))
                extra = self._hitching(task, choice, cards)
                citations.append(Citation(decision=choice.named, cards=(*choice.supporting, *extra)))
            elif choice.value is not None:
                decisions.append(Decision(name=choice.slot, value=choice.value))
        output = " ".join(f"{choice.slot}_{choice.value}" for choice in choices if choice.value is not None)
        return Draft(output=output, decisions=tuple(decisions), citations=tuple(citations))

    def choose(self, task: Task, cards: Sequence[Card]) -> list[Choice]:
        """Slot by slot, with what each choice hangs on."""
        said: dict[str, list[tuple[str, Stance]]] = {}
        for card in cards:
            found = advice(card)
            if found is not None:
                said.setdefault(found.decision.partition("=")[0], []).append((card.id, found))
        return [self._choice(task, slot, said) for slot in range(self.slots)]

    def _choice(self, task: Task, slot: int, said: Mapping[str, Sequence[tuple[str, Stance]]]) -> Choice:
        ways = self.menu[slot * self.values : (slot + 1) * self.values]
        name = ways[0].partition("=")[0]
        usual = self._usual(task, slot, ways)
        heard = said.get(name, ())
        avoided: set[str] = set()
        taken: list[tuple[str, Stance]] = []
        for card_id, stance in heard:
            if not stance.prefer:
                avoided.add(stance.decision)
            elif stance.decision not in avoided and (not taken or taken[0][1].decision == stance.decision):
                taken.append((card_id, stance))
        if taken:
            return self._preferred(name, usual, heard, taken)
        against = tuple(c for c, stance in heard if not stance.prefer and stance.decision == usual)
        if usual is None or not against:
            return _chosen(name, usual, usual, (), None, ())
        other = next((way for way in self._order(task, slot, ways) if way not in avoided), None)
        return _chosen(name, other, usual, against, f"not:{usual}", against)

    def _preferred(
        self,
        name: str,
        usual: str | None,
        heard: Sequence[tuple[str, Stance]],
        taken: Sequence[tuple[str, Stance]],
    ) -> Choice:
        key = taken[0][1].decision
        supporting = tuple(card_id for card_id, _ in taken)
        rivals = [i for i, (_, stance) in enumerate(heard) if stance.prefer and stance.decision != key]
        if rivals:
            ahead = {card_id for card_id, _ in heard[: rivals[0]]}
            return _chosen(name, key, usual, tuple(c for c in supporting if c in ahead), key, supporting)
        return _chosen(name, key, usual, () if key == usual else supporting, key, supporting)

    def _usual(self, task: Task, slot: int, ways: Sequence[str]) -> str | None:
        return None if _draw("usual", task.text, str(slot)) < self.absent else self._order(task, slot, ways)[0]

    def _order(self, task: Task, slot: int, ways: Sequence[str]) -> tuple[str, ...]:
        return _habit(task.text, slot, tuple(ways))

    def _hitching(self, task: Task, choice: Choice, cards: Sequence[Card]) -> tuple[str, ...]:
        others = [card.id for card in cards if card.id not in choice.supporting]
        if not others or _draw("hitch", task.text, choice.slot) >= self.hitch:
            return ()
        return (min(others, key=lambda card: content_hash("who", task.text, choice.slot, card)),)


def _chosen(
    name: str,
    key: str | None,
    usual: str | None,
    behind: tuple[str, ...],
    named: str | None,
    supporting: tuple[str, ...],
) -> Choice:
    """Keys such as ``hook=question`` become values."""
    value, common = (None if k is None else k.partition("=")[2] for k in (key, usual))
    return Choice(slot=name, value=value, usual=common, behind=behind, named=named, supporting=supporting)


@lru_cache(maxsize=100_000)
def _habit(text: str, slot: int, ways: tuple[str, ...]) -> tuple[str, ...]:
    """The ways to fill a slot, in the order in which the agent would take them for this task."""
    return tuple(sorted(ways, key=lambda way: content_hash("order", text, str(slot), way)))


@lru_cache(maxsize=100_000)
def _draw(*parts: str) -> float:
    """From 0 to 1, the same for the same parts."""
    return int(content_hash(*parts)[:8], 16) / 16**8
