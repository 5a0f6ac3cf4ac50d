"""Bounded memory against truncation and retrieval, on questions of HotpotQA hidden among paragraphs of the others.

A way of reading is judged by whether the answer stands in what it hands on (``kept``), which needs no model and bounds
what any model could answer from it, and with a model by exact match and word F1 of its answer. Beyond the pool's own
length its paragraphs come again, in another order. Questions with yes or no for an answer are left out.
"""

import json
import random
import re
import string
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np

from afterwit.digest.chunk import ChunkRules, chunks
from afterwit.digest.focused import Focused
from afterwit.digest.fold import Folding, empty
from afterwit.digest.terms import Rarity, words
from afterwit.errors import BudgetSpent, InputError, ModelError
from afterwit.evaluate.metrics.bootstrap import Ratio, Resamples
from afterwit.evaluate.record import EvaluationRecord, sha256_of
from afterwit.model import Interaction, Interval, count_tokens
from afterwit.ports import Progress

LENGTHS = (7_000, 28_000, 112_000, 448_000, 1_800_000, 3_500_000)
CHUNK, MEMORY, WINDOW, NEAREST = 5_000, 1_024, 128_000, 5
Reader = Callable[[str, str], str]
"""(question, what was read) → an answer. Raises ModelError."""

_AT = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Question:
    """paragraphs: (title, text) that belong to it, two of which hold what is needed."""

    id: str
    question: str
    answer: str
    paragraphs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Paragraph:
    title: str
    text: str
    tokens: int


def load(path: Path) -> tuple[Question, ...]:
    """JSON Lines as HotpotQA's distractor setting has them. Raises InputError, naming the line."""
    found = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            context = row["context"]
            titles, texts = (
                (context["title"], context["sentences"])
                if isinstance(context, dict)
                else ([one[0] for one in context], [one[1] for one in context])
            )
            paragraphs = tuple((str(t), "".join(s)) for t, s in zip(titles, texts, strict=True))
            id_ = str(row.get("id") or row.get("_id"))
            found.append(
                Question(id=id_, question=str(row["question"]), answer=str(row["answer"]), paragraphs=paragraphs)
            )
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise InputError(f"{path}, line {number}: {type(error).__name__}: {error}") from None
    return tuple(one for one in found if normal(one.answer) not in ("yes", "no"))


def run(
    path: Path,
    *,
    lengths: Sequence[int] = LENGTHS,
    most: int = 20,
    reader: Reader | None = None,
    seed: int = 13,
    progress: Progress | None = None,
) -> EvaluationRecord:
    """most: questions at each length. reader: a model that answers from what was read."""
    began = time.perf_counter()
    questions = load(path)
    pool = [_Paragraph(t, s, count_tokens(f"{t} {s}")) for q in questions for t, s in q.paragraphs]
    rarity = Rarity.of(one.text for one in pool)
    figures: dict[str, dict[str, Interval]] = {}
    asked = questions[:most]
    resamples = Resamples.of(np.arange(len(asked)), seed=seed)
    one = np.ones(len(asked))
    for place, length in enumerate(lengths):
        results: dict[str, list[tuple[bool, float, float, float, float]]] = {}
        for number, question in enumerate(asked):
            for name, way in WAYS.items():
                started = time.perf_counter()
                text = way(question, _document(question, pool, length, seed), rarity)
                seconds = time.perf_counter() - started
                exact, f1 = _answered(reader, question, text)
                held = f" {normal(question.answer)} " in f" {normal(text)} "
                results.setdefault(name, []).append((held, exact, f1, count_tokens(text), seconds))
            if progress is not None:
                progress(place * len(asked) + number + 1, len(lengths) * len(asked))
        for name, rows in results.items():
            columns = np.array(rows, dtype=np.float64).T
            told = {"kept": columns[0]} | ({"exact_match": columns[1], "f1": columns[2]} if reader else {})
            for metric, values in told.items():
                interval = resamples.interval(Ratio(top=values, bottom=one))
                figures.setdefault(name, {})[f"{metric}@{length}"] = interval
            figures[name][f"tokens@{length}"] = Interval(value=float(columns[3].mean()), n=len(rows))
            figures[name][f"seconds@{length}"] = Interval(value=float(columns[4].mean()), n=len(rows))
    return EvaluationRecord(
        benchmark="longcontext:hotpotqa",
        version=version("afterwit"),
        seed=seed,
        seconds=time.perf_counter() - began,
        data={path.name: sha256_of(path)},
        policies=figures,
        counts={"questions": len(asked), "paragraphs": len(pool), "pool_tokens": sum(p.tokens for p in pool)},
    )


def _document(question: Question, pool: Sequence[_Paragraph], length: int, seed: int) -> Iterator[_Paragraph]:
    """The question's own paragraphs in random places among ``length`` tokens of others, streamed."""
    rng = random.Random(f"{seed}/{question.id}/{length}")
    own = [_Paragraph(t, s, count_tokens(f"{t} {s}")) for t, s in question.paragraphs]
    mine = {one.text for one in own}
    others = [one for one in pool if one.text not in mine]
    places = sorted(rng.uniform(0, length) for _ in own)
    rng.shuffle(own)
    told = 0
    while told < length:
        rng.shuffle(others)
        for paragraph in others:
            while places and places[0] <= told:
                places.pop(0)
                yield own[len(own) - len(places) - 1]
            told += paragraph.tokens
            yield paragraph
            if told >= length:
                break
    yield from own[len(own) - len(places) :] if places else ()


def _folded(question: Question, document: Iterator[_Paragraph], rarity: Rarity) -> str:
    """A memory of 1,024 tokens, chunk by chunk."""
    folding = Folding(writer=Focused(rarity=rarity), clock=lambda: _AT)
    state = empty(scope="s", user="u", budget=MEMORY, at=_AT, query=question.question)
    history = (Interaction(item=str(i), title=p.title, text=p.text) for i, p in enumerate(document))
    for chunk in chunks(history, rules=ChunkRules(tokens=CHUNK, short=0)):
        state = folding.fold(state, chunk)
    return state.text


def _truncated(question: Question, document: Iterator[_Paragraph], rarity: Rarity) -> str:
    """The first 128 k tokens, as a window that is full leaves off."""
    taken: list[str] = []
    room = WINDOW
    for paragraph in document:
        room -= paragraph.tokens
        if room < 0:
            break
        taken.append(f"{paragraph.title}: {paragraph.text}")
    return "\n".join(taken)


def _retrieved(question: Question, document: Iterator[_Paragraph], rarity: Rarity) -> str:
    """The five chunks of 5,000 tokens that share most with the question, by BM25."""
    asked = frozenset(words(question.question))
    best: list[tuple[float, int, str]] = []
    for number, chunk in enumerate(_chunked(document)):
        counts = Counter(word for word in words(chunk) if word in asked)
        score = sum(rarity(word) * n * 2.2 / (n + 1.2) for word, n in counts.items())
        best = sorted([*best, (score, -number, chunk)], reverse=True)[:NEAREST]
    return "\n".join(chunk for _, _, chunk in sorted(best, key=lambda one: -one[1]))


def _chunked(document: Iterator[_Paragraph]) -> Iterator[str]:
    held: list[str] = []
    tokens = 0
    for paragraph in document:
        if held and tokens + paragraph.tokens > CHUNK:
            yield "\n".join(held)
            held, tokens = [], 0
        held.append(f"{paragraph.title}: {paragraph.text}")
        tokens += paragraph.tokens
    if held:
        yield "\n".join(held)


WAYS: dict[str, Callable[[Question, Iterator[_Paragraph], Rarity], str]] = {
    "memory:focused": _folded,
    "truncation:128k": _truncated,
    "retrieval:top5": _retrieved,
}


def _answered(reader: Reader | None, question: Question, text: str) -> tuple[float, float]:
    if reader is None:
        return 0.0, 0.0
    try:
        answer = reader(question.question, text)
    except BudgetSpent:
        raise
    except ModelError:
        return 0.0, 0.0
    return float(normal(answer) == normal(question.answer)), f1(answer, question.answer)


def f1(answer: str, true: str) -> float:
    """Of words, as HotpotQA's own script has it."""
    one, other = Counter(normal(answer).split()), Counter(normal(true).split())
    shared = sum((one & other).values())
    return 2 * shared / (sum(one.values()) + sum(other.values())) if shared else 0.0


def normal(text: str) -> str:
    """Lower case, without punctuation and articles."""
    bare = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())
