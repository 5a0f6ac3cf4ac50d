"""The model gate: structured self-reflection over the record, once or in votes (CHIME; design section 8)."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from pydantic import BaseModel, Field

from afterwit.errors import BudgetSpent, ModelError
from afterwit.model import Ask, Attribution, Card, Episode, Lesson, Message, Stage, StageVerdict, Step, content_hash

_RESULT = 300  # characters of a tool's result that the gate sees
VOTING = 0.7


class Advice(BaseModel):
    condition: str = Field(max_length=300)
    action: str = Field(max_length=300)


class Reflection(BaseModel):
    """What a gate asks a model for. confidence: whole percent."""

    stage: Literal["planning", "execution", "both", "neither"]
    confidence: int = Field(ge=0, le=100)
    reason: str = Field(max_length=300)
    planning_lesson: Advice | None = None
    execution_lesson: Advice | None = None
    helped: list[str] = Field(default_factory=list, max_length=20)
    misleading: list[str] = Field(default_factory=list, max_length=20)


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelGate:
    """answer: asks a model for a reflection; ModelError where it fails. votes: at temperature 0.7 with distinct seeds;
    one vote is asked at ``temperature``. seed: the first of them.

    With n votes the stage is the one that most name, ties by the order planning, execution, both, neither; c is the
    share that agree times their mean stated confidence. A vote whose answer cannot be used counts as none; where all
    fail, the last error is raised.
    """

    answer: Callable[[Ask], Reflection]
    model: str
    votes: int = 1
    seed: int = 0
    temperature: float = 0.0
    max_tokens: int = 400

    @property
    def name(self) -> str:
        return f"model:{self.model}:{self.votes}"

    def __call__(self, episode: Episode, cards: Sequence[Card]) -> Attribution:
        used = _used(episode, cards)
        found = self._reflections(_prompt(episode, used))
        counted = Counter(one.stage for one in found)
        stage = max(_ORDER, key=lambda s: (counted[s], -_ORDER.index(s)))
        agreeing = [one for one in found if one.stage == stage]
        stated = sum(one.confidence for one in agreeing) / len(agreeing) / 100
        known = {short: card.id for short, card in used.items()}
        return Attribution(
            episode_id=episode.id,
            stage=stage,
            confidence=len(agreeing) / self.votes * stated,
            success=bool(episode.success),
            lessons=_lessons(episode, stage, agreeing),
            helped=_named((one.helped for one in agreeing), known),
            misleading=_named((one.misleading for one in agreeing), known),
            reason=agreeing[0].reason,
        )

    def _reflections(self, prompt: str) -> list[Reflection]:
        found, failed = [], None
        for vote in range(self.votes):
            ask = Ask(
                messages=(Message(role="user", content=prompt),),
                temperature=VOTING if self.votes > 1 else self.temperature,
                seed=self.seed + vote,
                max_tokens=self.max_tokens,
                purpose="gate",
            )
            try:
                found.append(self.answer(ask))
            except BudgetSpent:
                raise
            except ModelError as error:
                failed = error
        if not found and failed is not None:
            raise failed
        return found


_ORDER: tuple[StageVerdict, ...] = ("planning", "execution", "both", "neither")
_TEMPLATE = "reflection.md"


def _used(episode: Episode, cards: Sequence[Card]) -> dict[str, Card]:
    """The cards that were cited, by the short id that the prompt shows: law 1 leaves out all others."""
    cited = {id_ for citation in episode.citations for id_ in citation.cards}
    return {content_hash(card.id)[:8]: card for card in cards if card.id in cited}


def _prompt(episode: Episode, used: Mapping[str, Card]) -> str:
    template = (resources.files("afterwit") / "credit" / "gate" / _TEMPLATE).read_text(encoding="utf-8")
    outcome = "success" if episode.success else "failure"
    return template.format(
        task=episode.task,
        plan=episode.plan or "none",
        steps="\n".join(f"{i}. {_told(step)}" for i, step in enumerate(episode.steps, 1)) or "none",
        outcome=f"{outcome}. {episode.feedback}" if episode.feedback else outcome,
        cards="\n".join(f"[{short}] {card.guidance}" for short, card in used.items()) or "none",
    )


def _told(step: Step) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in step.arguments.items())
    ending = f"ERROR {step.error}" if step.error else (step.result or "done")
    return f"{step.tool}({arguments}) -> {' '.join(ending.split())[:_RESULT]}"


def _lessons(episode: Episode, stage: StageVerdict, agreeing: Sequence[Reflection]) -> dict[Stage, Lesson]:
    """Of each stage named, the first lesson that an agreeing vote gives."""
    stages: tuple[Stage, ...] = ("planning", "execution") if stage == "both" else ()
    if stage in ("planning", "execution"):
        stages = (stage,)
    found: dict[Stage, Lesson] = {}
    for one in stages:
        given = (r.planning_lesson if one == "planning" else r.execution_lesson for r in agreeing)
        advice = next((a for a in given if a is not None), None)
        if advice is not None:
            condition, action = advice.condition.strip().rstrip("."), advice.action.strip().rstrip(".")
            found[one] = Lesson(stage=one, key=episode.task, condition=condition, action=action)
    return found


def _named(votes: Iterable[list[str]], known: Mapping[str, str]) -> tuple[str, ...]:
    """Ids of cards that more than half of the agreeing votes name; ids that the prompt did not show are nothing."""
    lists = [set(one) & known.keys() for one in votes]
    counted = Counter(short for one in lists for short in one)
    return tuple(known[short] for short in sorted(counted) if counted[short] * 2 > len(lists))
