"""A model as the writer, and as the reader that answers from a profile. Each is given text as data, never as orders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources

from pydantic import BaseModel, Field

from afterwit.digest.answer import Candidate
from afterwit.digest.chunk import Chunk, Count
from afterwit.digest.constraints import Constraint
from afterwit.errors import OutputError
from afterwit.model import Ask, Message


class Folded(BaseModel):
    """lines: the new profile, one fact a line."""

    lines: list[str] = Field(min_length=1, max_length=400)


class Ranked(BaseModel):
    """order: numbers of the candidates, from 1, best first."""

    order: list[int] = Field(min_length=1, max_length=200)


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelWriter:
    """answer: asks a model for the new lines; ModelError where it fails. model: its name."""

    answer: Callable[[Ask], Folded]
    model: str

    @property
    def name(self) -> str:
        return f"model:{self.model}"

    def __call__(
        self, query: str, text: str, chunk: Chunk, *, budget: int, constraints: Sequence[Constraint], count: Count
    ) -> str:
        """The budget is told to the model, and held by who calls."""
        prompt = _template("fold.md").format(
            query=query or "anything that the user may want",
            budget=budget,
            constraints="\n".join(f"- {one.said}" for one in constraints) or "none",
            profile=text.strip() or "empty",
            history="\n".join(f"- {interaction.told()}" for interaction in chunk.interactions),
        )
        ask = Ask(messages=(Message(role="user", content=prompt),), max_tokens=budget, purpose="fold")
        return "# Profile\n" + "\n".join(f"- {line.lstrip('- ')}" for line in self.answer(ask).lines if line.strip())


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelReader:
    """Ranks from a profile's text. ranked: asks a model for the order."""

    ranked: Callable[[Ask], Ranked]
    model: str

    def rank(self, profile: str, candidates: Sequence[Candidate], *, query: str = "") -> list[Candidate]:
        """Candidates that the answer leaves out follow in the given order. Raises OutputError for numbers that are
        none of theirs."""
        prompt = _template("rank.md").format(
            query=query or "what would this user like next?",
            profile=profile.strip() or "nothing is known",
            candidates="\n".join(f"{i}. {one.said}" for i, one in enumerate(candidates, 1)),
        )
        ask = Ask(messages=(Message(role="user", content=prompt),), max_tokens=8 * len(candidates) + 40, purpose="rank")
        order = list(dict.fromkeys(self.ranked(ask).order))
        if any(not 1 <= number <= len(candidates) for number in order):
            raise OutputError("schema", f"the order names a candidate that is none of 1 to {len(candidates)}")
        left = [i for i in range(1, len(candidates) + 1) if i not in order]
        return [candidates[i - 1] for i in (*order, *left)]


def _template(name: str) -> str:
    return (resources.files("afterwit") / "digest" / "templates" / name).read_text(encoding="utf-8")
