"""A history cut into turns: never inside an interaction, never loaded whole."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise

from afterwit.errors import InputError
from afterwit.model import Interaction, count_tokens

Count = Callable[[str], int]
CUT = " […]"


@dataclass(frozen=True, kw_only=True)
class ChunkRules:
    """turns: W, into how many chunks a short history is cut (3 to 6 in the paper). short: the most interactions that
    count as short; beyond, chunks are of ``tokens`` and turns grow. tokens: the most that a chunk may hold."""

    turns: int = 3
    short: int = 50
    tokens: int = 100_000

    def __post_init__(self) -> None:
        if not 1 <= self.turns <= 50 or self.tokens < 1:
            raise InputError(f"{self.turns} turns of {self.tokens} tokens: give 1 to 50 turns and at least 1 token")


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """interactions: in order, oldest first. cut: how many of them were longer than a chunk and lost their end."""

    interactions: tuple[Interaction, ...]
    tokens: int
    cut: int = 0


def chunks(
    history: Iterable[Interaction], *, rules: ChunkRules = ChunkRules(), count: Count = count_tokens
) -> Iterator[Chunk]:
    """One pass; at most a chunk, or the first ``rules.short`` interactions, are held at a time."""
    stream = iter(history)
    head = list(islice(stream, rules.short + 1))
    if len(head) <= rules.short:
        turns = _turns(head, rules.turns)
        made = [list(_packed(turn, rules.tokens, count)) for turn in turns]
        yield from chain.from_iterable(made)
    else:
        yield from _packed(chain(head, stream), rules.tokens, count)


def _turns(history: list[Interaction], turns: int) -> list[list[Interaction]]:
    """As even as can be, in order; no empty ones."""
    size, more = divmod(len(history), turns)
    cuts = [i * size + min(i, more) for i in range(turns + 1)]
    return [history[a:b] for a, b in pairwise(cuts) if a < b]


def _packed(history: Iterable[Interaction], most: int, count: Count) -> Iterator[Chunk]:
    held: list[Interaction] = []
    tokens = cut = 0
    for interaction in history:
        fitting = shortened(interaction, most, count)
        size = count(fitting.told())
        if held and tokens + size > most:
            yield Chunk(interactions=tuple(held), tokens=tokens, cut=cut)
            held, tokens, cut = [], 0, 0
        held.append(fitting)
        tokens += size
        cut += fitting is not interaction
    if held:
        yield Chunk(interactions=tuple(held), tokens=tokens, cut=cut)


def shortened(interaction: Interaction, most: int, count: Count) -> Interaction:
    """The same where it fits; else with its text, and if need be its title, cut to whole words and marked as cut."""
    if count(interaction.told()) <= most:
        return interaction
    bare = replace(interaction, text="")
    if count(replace(bare, text=CUT).told()) <= most:
        return _cut(interaction.text, lambda text: replace(bare, text=text), most, count)
    return _cut(interaction.title, lambda title: replace(bare, title=title, attributes={}), most, count)


def _cut(text: str, made: Callable[[str], Interaction], most: int, count: Count) -> Interaction:
    """With the longest beginning of the text that fits, by bisection."""
    words = text.split()

    def whole(n: int) -> Interaction:
        return made(" ".join(words[:n]) + CUT)

    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(whole(middle).told()) <= most else (low, middle - 1)
    return whole(low)
