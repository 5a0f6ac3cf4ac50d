"""A planned round whose sentences a model has worded: every proposal is checked, every refusal named.

Numbers, conditions and stances of the cards never change here, nor does which edit is made: the model words what the
evidence has decided. Of an eviction it gives an assessment, which is kept beside the reason (our reconstruction of
TIDE's model-driven operators).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import BaseModel, Field

from afterwit.errors import BudgetSpent, ModelError
from afterwit.evolve.worded.checks import Allowed, Suspicion, why_refused
from afterwit.evolve.worded.templates import Templates
from afterwit.model import Ask, Card, Edit, Message, Refusal, Round
from afterwit.ports import Progress

_WORDED = ("admit", "merge", "revise", "split", "reinforce")


class Sentence(BaseModel):
    # No docstring here: it would go along as a description, and small models repeat it as their answer.
    sentence: str = Field(max_length=140)


class Assessment(BaseModel):
    """Of a card that is to leave; whole percents."""

    reliability: int = Field(ge=0, le=100)
    usefulness: int = Field(ge=0, le=100)
    responsibility: int = Field(ge=0, le=100)
    redundancy: int = Field(ge=0, le=100)
    conflict: int = Field(ge=0, le=100)
    recency: int = Field(ge=0, le=100)
    verdict: Literal["leave", "keep"]

    def told(self) -> str:
        marks = {name: value for name, value in self.model_dump().items() if name != "verdict"}
        return f"the model would {self.verdict}: " + ", ".join(f"{name} {value}" for name, value in marks.items())


@dataclass(frozen=True, kw_only=True, eq=False)
class Worder:
    """sentence, assessment: ask a model for one (an Ask in, a parsed value out; ModelError where it fails). values:
    context values that the log knows, which a card may name only where its condition does. suspicion: see `checks`.
    operators: which to word; reinforced cards keep their words unless asked for."""

    sentence: Callable[[Ask], Sentence]
    assessment: Callable[[Ask], Assessment]
    templates: Templates
    values: frozenset[str] = frozenset()
    suspicion: Suspicion | None = None
    operators: frozenset[str] = frozenset(("admit", "merge", "revise", "split", "evict"))
    card_tokens: int = 60
    words: int = 24
    max_tokens: int = 90
    temperature: float = 0.0
    seed: int = 0


@dataclass(kw_only=True)
class _Pass:
    """known: latest version of every card before the edit at hand. refused: what was not taken."""

    worder: Worder
    known: dict[str, Card]
    refused: list[Refusal] = field(default_factory=list)
    spent: bool = False

    def worded(self, edit: Edit) -> Edit:
        if self.spent or edit.operator not in self.worder.operators:
            return edit
        if edit.operator == "evict":
            return self._assessed(edit)
        if edit.operator in _WORDED:
            return replace(
                edit, writes=tuple(self._sentence(edit, card) if card.live else card for card in edit.writes)
            )
        return edit

    def _sentence(self, edit: Edit, card: Card) -> Card:
        sources = [self.known[id_].guidance for id_ in edit.parents if id_ in self.known]
        told = _evidence(card)
        ask = self._ask(
            edit.operator,
            guidance=card.guidance,
            key=card.key,
            when=str(card.when),
            evidence=told,
            sources="\n".join(f"- {text}" for text in sources),
            words=self.worder.words,
        )
        text = self._answered(card, lambda: self.worder.sentence(ask).sentence.strip())
        if text is None:
            return card
        allowed = Allowed(
            sources=(card.guidance, card.key, str(card.when), told, *sources),
            values=self.worder.values - {str(v) for clause in card.when.clauses for v in clause.values},
            tokens=self.worder.card_tokens,
        )
        why = why_refused(text, card, allowed, self.worder.suspicion)
        if why is not None:
            self.refused.append(Refusal(subject=f"{edit.operator}: {text}", verdict="proposal refused", reason=why))
            return card
        provenance = replace(card.provenance, trust="model")
        return replace(card, guidance=text, provenance=provenance)

    def _assessed(self, edit: Edit) -> Edit:
        card = next((self.known[c.id] for c in edit.writes if c.id in self.known), edit.writes[0])
        ask = self._ask(
            "evict",
            guidance=card.guidance,
            key=card.key,
            when=str(card.when),
            evidence=_evidence(card),
            uses=card.uses,
            reason=edit.reason,
        )
        told = self._answered(card, lambda: self.worder.assessment(ask).told())
        if told is None:
            return edit
        if "would keep" in told:
            self.refused.append(Refusal(subject=f"evict: {card.guidance}", verdict="objection", reason=told))
        return replace(edit, reason=f"{edit.reason}; {told}")

    def _answered(self, card: Card, ask: Callable[[], str]) -> str | None:
        try:
            return ask()
        except BudgetSpent as error:
            self.spent = True
            self.refused.append(Refusal(subject="the rest of the round", verdict="not worded", reason=str(error)))
        except ModelError as error:
            self.refused.append(Refusal(subject=card.guidance, verdict="proposal refused", reason=str(error)))
        return None

    def _ask(self, operator: str, **fields: object) -> Ask:
        worder = self.worder
        prompt = worder.templates.fill(operator, **fields)
        return Ask(
            messages=(Message(role="user", content=prompt),),
            temperature=worder.temperature,
            seed=worder.seed,
            max_tokens=worder.max_tokens,
            purpose=operator,
        )


def reword(round_: Round, known: Mapping[str, Card], worder: Worder, progress: Progress | None = None) -> Round:
    """The round with the sentences that passed; the deterministic ones stay where a proposal did not.

    known: card id → version before the round. Later edits of the round see the new words, so that a card has one
    sentence in all of them.
    """
    work = _Pass(worder=worder, known=dict(known))
    said: dict[str, Card] = {}
    edits = []
    for edit in round_.edits:
        current = replace(edit, writes=tuple(_carried(card, said) for card in edit.writes))
        made = work.worded(current)
        for before, after in zip(edit.writes, made.writes, strict=True):
            work.known[after.id] = after
            if after.guidance != before.guidance:
                said[after.id] = after
        edits.append(made)
        if progress is not None:
            progress(len(edits), len(round_.edits))
    return replace(round_, edits=tuple(edits), refused=(*round_.refused, *work.refused))


def _carried(card: Card, said: Mapping[str, Card]) -> Card:
    worded = said.get(card.id)
    if worded is None:
        return card
    return replace(card, guidance=worded.guidance, provenance=replace(card.provenance, trust="model"))


def _evidence(card: Card) -> str:
    """Of every objective: the effect in percent with its interval, and how many tests stand behind it."""
    parts = []
    for objective, fitness in card.fitness.items():
        low, mean, high = (100 * math.expm1(fitness.mean + z * fitness.sd) for z in (-1.96, 0, 1.96))
        parts.append(f"{objective} {mean:+.1f} % [{low:+.1f}, {high:+.1f}] over {fitness.strata} tests")
    return "; ".join(parts) or "none yet"
