"""A scripted agent with habits, to show the loop's algorithm and no model's talent.

It knows each task's right calls and errs by habit: in some tasks it forgets a sub-goal of a kind that it is prone to
forget (planning), gives an argument wrongly (execution), or meets an error from outside, which nothing prevents.
Fixed beforehand are the habits of a domain, the mistakes of each task and seed, and what a recalled card does, which
the small functions `forgotten` and `misgiven` say: a card that truly matches prevents a mistake, and a planning card
whose cue the task speaks of for no reason brings in a step that nobody asked for. The verifier alone says what
succeeded.
"""

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from afterwit.benchmarks.tau2.environment import Call, Tau2, Tau2Task, Tool
from afterwit.benchmarks.tau2.faults import changed
from afterwit.benchmarks.tau2.plans import prose
from afterwit.benchmarks.tau2.replay import replay
from afterwit.credit.gate.compare import Replayed
from afterwit.credit.gate.lessons import speaks_of
from afterwit.credit.gate.record import stems
from afterwit.evaluate.chime.world import StageRecall
from afterwit.model import Card, Citation, Episode

_AT = datetime(2000, 1, 1, tzinfo=UTC)
_OUTSIDE = "503 service unavailable"
_PLANNING = re.compile(r"the task speaks of (\w+), give (.+?) a step of its own in the plan")
_CASE = re.compile(r"recall that of (.+), it worked")
_EXECUTION = re.compile(r"a step calls ([^,]+), (?:take|check) its (.+?) (?:word for word|against)")


@dataclass(frozen=True, kw_only=True)
class Mix:
    """How often a habit shows where a task gives occasion, and how often a task meets an error from outside.
    kinds: habits of each stage in a domain."""

    planning: float = 0.7
    execution: float = 0.7
    outside: float = 0.1
    kinds: int = 2


@dataclass(frozen=True, kw_only=True)
class Habits:
    """forgets: tools whose sub-goal the agent leaves out of plans. misgives: (tool, argument) that it gets wrong."""

    forgets: tuple[str, ...]
    misgives: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Mistakes:
    """Of one task: sub-goals forgotten, arguments given wrongly, and the tool whose call is lost to an error."""

    forgets: frozenset[str]
    misgives: frozenset[tuple[str, str]]
    lost: str | None


def forgotten(card: Card, task: str) -> frozenset[str]:
    """Tools that a planning card, followed, brings into the plan of this task: those whose cue the task speaks of, and
    of a case that worked those that the task speaks of."""
    words = stems(task)
    advised = {_name(tool) for cue, tool in _PLANNING.findall(card.guidance) if stems(cue) <= words}
    done = [_name(tool) for tools in _CASE.findall(card.guidance) for tool in tools.split(",")]
    return frozenset(advised | speaks_of(task, done).keys())


def misgiven(card: Card) -> frozenset[tuple[str, str]]:
    """(tool, argument) that an execution card, followed, keeps right."""
    return frozenset((_name(tool), _name(argument)) for tool, argument in _EXECUTION.findall(card.guidance))


class LearningAgent:
    """A `World`. mix, seed: fix its habits and, with the seed of the order, its mistakes."""

    name = "tau2-agent"

    def __init__(self, environment: Tau2, domains: Sequence[str], *, mix: Mix = Mix(), seed: int = 0) -> None:
        self._environment = environment
        self._mix = mix
        self._seed = seed
        self._tasks = {domain: {task.id: task for task in environment.tasks(domain)} for domain in domains}
        self._tools = {domain: environment.tools(domain) for domain in domains}
        self.domains: Mapping[str, tuple[str, ...]] = {domain: tuple(tasks) for domain, tasks in self._tasks.items()}
        self.habits = {
            domain: habits(tuple(self._tasks[domain].values()), self._tools[domain], mix.kinds) for domain in domains
        }

    def serve(self, domain: str, task: str, recall: StageRecall, *, seed: int) -> Episode:
        of = self._tasks[domain][task]
        about = f"{self._seed}/{domain}/{task}/{seed}"
        mistakes = self._mistakes(domain, of, random.Random(about))
        citations: list[Citation] = []
        planned = self._planned(domain, of, mistakes, recall, citations)
        plan = prose(planned, random.Random(about)) if planned else "Tell the customer."
        calls = _done(planned, mistakes, recall, citations, about)
        ran = self._environment.run(domain, task, calls)
        return Episode(
            id=f"{domain}/{task}/{seed}",
            scope=self.name,
            task=of.said,
            context={
                "domain": domain,
                "case": list(self._tasks[domain]).index(task),
                "tools": ", ".join(tool.name for tool in self._tools[domain] if tool.changes),
            },
            started_at=_AT,
            citations=tuple(citations),
            plan=plan,
            steps=ran.steps,
            success=ran.success,
            feedback="done as asked" if ran.success else "the verifier says that it is not done as asked",
        )

    def replay(self, episode: Episode) -> Replayed | None:
        """For the gate: the plan followed faithfully. A step too many is done as the agent did it."""
        domain = str(episode.context["domain"])
        task = list(self._tasks[domain].values())[int(episode.context["case"])]
        by = {tool.name: tool.by for tool in self._tools[domain]}
        known = {call.tool for call in task.calls}
        added = tuple(
            Call(by=by[step.tool], tool=step.tool, arguments=step.arguments)
            for step in episode.steps
            if step.tool not in known
        )
        whole = replace(task, calls=(*task.calls, *added))
        return replay(self._environment, domain, lambda _: whole)(episode)

    def true(self, card: Card) -> bool | None:
        """Whether it speaks against a habit that the agent has in the card's domain."""
        _, domain, _ = card.scope.rsplit("/", 2)
        tools = {_name(tool) for _, tool in _PLANNING.findall(card.guidance)}
        given = misgiven(card)
        if not tools and not given:
            return None
        return bool(tools & set(self.habits[domain].forgets) or given & set(self.habits[domain].misgives))

    def _mistakes(self, domain: str, task: Tau2Task, rng: random.Random) -> Mistakes:
        """Drawn in a fixed order, so that one more or less does not move the others."""
        own = self.habits[domain]
        used = {call.tool for call in task.calls}
        given = {(call.tool, name) for call in task.calls for name in call.arguments}
        forgets = {tool for tool in own.forgets if rng.random() < self._mix.planning and tool in used}
        misgives = {pair for pair in own.misgives if rng.random() < self._mix.execution and pair in given}
        changing = [call.tool for call in task.calls if self._changes(domain, call)]
        lost = rng.random() < self._mix.outside
        return Mistakes(
            forgets=frozenset(forgets),
            misgives=frozenset(misgives),
            lost=rng.choice(changing) if changing and lost else None,
        )

    def _planned(
        self, domain: str, task: Tau2Task, mistakes: Mistakes, recall: StageRecall, citations: list[Citation]
    ) -> list[Call]:
        """The right calls less what is forgotten; a card that is followed brings its sub-goal back, or in."""
        left = set(mistakes.forgets)
        right = {call.tool for call in task.calls}
        extra: dict[str, Call] = {}
        acted = []
        for card in recall("planning", task.said):
            meant = forgotten(card, task.said)
            new = {tool for tool in meant - right - extra.keys() if any(t.name == tool for t in self._tools[domain])}
            if meant & left or new:
                acted.append(card.id)
            left -= meant
            extra |= {tool: self._unasked(domain, tool, task) for tool in sorted(new)}
        if acted:
            citations.append(Citation(decision="plan", cards=tuple(acted)))
        return [*(call for call in task.calls if call.tool not in left), *extra.values()]

    def _unasked(self, domain: str, tool: str, task: Tau2Task) -> Call:
        """A call that the task does not need, with what arguments the agent has at hand."""
        of = next(t for t in self._tools[domain] if t.name == tool)
        known = {name: value for call in task.calls for name, value in call.arguments.items()}
        return Call(by=of.by, tool=tool, arguments={name: known[name] for name in of.required if name in known})

    def _changes(self, domain: str, call: Call) -> bool:
        return any((t.by, t.name) == (call.by, call.tool) and t.changes for t in self._tools[domain])


def _done(
    planned: Sequence[Call], mistakes: Mistakes, recall: StageRecall, citations: list[Citation], about: str
) -> list[Call]:
    """The plan's calls, each after a recall; a wrong argument hits every call of its tool."""
    calls = []
    lost = mistakes.lost
    for place, call in enumerate(planned, start=1):
        words = call.tool.replace("_", " ")
        names = ", ".join(name.replace("_", " ") for name in call.arguments)
        cards = recall("execution", f"{words}: {names}" if names else words)
        wrong = {(call.tool, name) for name in call.arguments} & mistakes.misgives
        helping = [card for card in cards if misgiven(card) & wrong]
        if helping:
            citations.append(Citation(decision=f"step {place}", cards=tuple(card.id for card in helping)))
        for pair in sorted(wrong - {pair for card in helping for pair in misgiven(card)}):
            value = changed(call.arguments[pair[1]], random.Random(f"{about}/{pair}"), slightly=False)
            call = replace(call, arguments={**call.arguments, pair[1]: value})
        if call.tool == lost:
            call, lost = replace(call, fault=_OUTSIDE), None
        calls.append(call)
    return calls


def habits(tasks: Sequence[Tau2Task], tools: Sequence[Tool], kinds: int) -> Habits:
    """The commonest occasions of a domain: sub-goals that the customers' words speak of, as what is forgotten must be
    seen to be missing, and arguments of calls that change something, one a tool."""
    changing = [tool.name for tool in tools if tool.changes]
    spoken: Counter[str] = Counter()
    given: Counter[str] = Counter()
    arguments: dict[str, Counter[str]] = {}
    for task in tasks:
        said = speaks_of(task.said, changing)
        used = dict.fromkeys(call.tool for call in task.calls if call.tool in changing)
        spoken.update(tool for tool in used if tool in said)
        given.update(tool for tool in used if any(c.arguments for c in task.calls if c.tool == tool))
        for call in task.calls:
            arguments.setdefault(call.tool, Counter()).update(list(call.arguments))
    commonest = [tool for tool, _ in given.most_common(kinds)]
    return Habits(
        forgets=tuple(tool for tool, _ in spoken.most_common(kinds)),
        misgives=tuple((tool, arguments[tool].most_common()[-1][0]) for tool in commonest),
    )


def _name(words: str) -> str:
    return words.strip().replace(" ", "_")
