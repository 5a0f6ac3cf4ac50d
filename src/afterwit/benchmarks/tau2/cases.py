"""The attribution set: runs of known cause in the real environment, as episodes without gold actions."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from afterwit.benchmarks.tau2.environment import Tau2, Tau2Task
from afterwit.benchmarks.tau2.faults import Planned, recipes
from afterwit.benchmarks.tau2.replay import replay
from afterwit.credit.gate.compare import Replayed
from afterwit.model import Episode, StageVerdict, Step

CAUSES: tuple[StageVerdict, ...] = ("planning", "execution", "both", "neither")
_AT = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Case:
    """cause: of the failure; None for a success. recipe: how it was made. replayed: what a faithful replay of the
    episode's plan does, for failures."""

    cause: StageVerdict | None
    recipe: str
    episode: Episode
    replayed: Replayed | None = None


def cases(
    world: Tau2, domain: str, *, seeds: Iterable[int] = (0,), most: int = 50, done: Callable[[int], None] | None = None
) -> list[Case]:
    """At most ``most`` a cause and as many successes, tasks in order, seed after seed.

    Faulty runs whose real reward is not 0 are left out, and of those with two causes the ones in which either alone
    would have done no harm. done: called with the count so far.
    """
    found: list[Case] = []
    count: Counter[StageVerdict | None] = Counter()
    seen: set[tuple[object, ...]] = set()
    tasks = world.tasks(domain)
    others = tuple(call for task in tasks for call in task.calls)
    for seed in seeds:
        for task in tasks:
            for made in recipes(domain, task, world.tools(domain), others, seed):
                if count[made.cause] >= most:
                    continue
                case = _case(world, domain, task, made, seed)
                same = case and (case.cause, case.episode.task, _done(case.episode.steps))
                if case is None or same in seen:
                    continue
                seen.add(same or ())
                count[case.cause] += 1
                found.append(case)
                if done is not None:
                    done(len(found))
    return found


def _case(world: Tau2, domain: str, task: Tau2Task, made: Planned, seed: int) -> Case | None:
    """None where the run ends otherwise than its recipe says."""
    ran = world.run(domain, task.id, made.calls)
    if ran.success != (made.cause is None) or any(world.run(domain, task.id, calls).success for calls in made.alone):
        return None
    episode = Episode(
        id=f"{domain}/{task.id}/{seed}/{made.cause or 'success'}",
        scope="tau2",
        task=task.said,
        context={"domain": domain, "tools": ", ".join(tool.name for tool in world.tools(domain) if tool.changes)},
        started_at=_AT,
        plan=made.plan,
        steps=ran.steps,
        success=ran.success,
        feedback="done as asked" if ran.success else "the verifier says that it is not done as asked",
    )
    replayed = None if ran.success else replay(world, domain, lambda _: task)(episode)
    return Case(cause=made.cause, recipe=made.recipe, episode=episode, replayed=replayed)


def _done(steps: Iterable[Step]) -> tuple[str, ...]:
    return tuple(f"{step.tool}{sorted(step.arguments.items())}{step.error}" for step in steps)
