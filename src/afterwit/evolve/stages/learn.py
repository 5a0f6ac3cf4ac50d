"""From the ledger to a planned round of a planning or execution bank: gather, attribute, plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from afterwit.errors import BudgetSpent, ModelError
from afterwit.evolve.seen import cards_seen
from afterwit.evolve.stages.round import stage_round
from afterwit.evolve.stages.rules import StageRules
from afterwit.model import Attribution, Episode, Refusal, Round, Stage, new_id
from afterwit.ports import Embedder, Gate, Store

BOTH: frozenset[Stage] = frozenset(("planning", "execution"))


@dataclass(frozen=True, kw_only=True, eq=False)
class StageLearner:
    """gate: says which stage an outcome is due to. A bank named after a stage keeps its lessons, any other both."""

    gate: Gate
    embedder: Embedder
    rules: StageRules = field(default_factory=StageRules)

    def plan(self, store: Store, *, scope: str, bank: str, as_of: datetime) -> Round:
        """A round on the bank as it stands; nothing is written.

        An episode is attributed once, whichever bank asks first. Where the gate fails the episode waits for the next
        round; where the budget is spent so do all that are left, and the round says how many.
        """
        now = store.bank(scope, bank)
        rounds = [r for r in reversed(store.rounds(scope)) if r.status == "applied"]
        known = {a.episode_id: a for r in rounds for a in r.attributions}
        done = {a.episode_id for r in rounds if r.bank == bank for a in r.attributions}
        waiting = [e for e in store.episodes(scope, until=as_of) if e.id not in done and _closed(e, as_of)]
        found, refused = self._attribute(store, waiting, known)
        ids, matrix = store.vectors(scope, bank)
        return stage_round(
            now,
            found,
            {episode.id: episode for episode in waiting},
            stages=stages_of(bank),
            vectors=dict(zip(ids, matrix, strict=True)),
            embed=self.embedder,
            as_of=as_of,
            rules=self.rules,
            refused=refused,
            round_id=new_id(),
        )

    def _attribute(
        self, store: Store, waiting: Sequence[Episode], known: Mapping[str, Attribution]
    ) -> tuple[list[Attribution], list[Refusal]]:
        found: list[Attribution] = []
        refused: list[Refusal] = []
        seen = cards_seen(store, [episode for episode in waiting if episode.id not in known])
        for place, episode in enumerate(waiting):
            try:
                found.append(known.get(episode.id) or self.gate(episode, seen[episode.id]))
            except BudgetSpent as error:
                left = f"{len(waiting) - place} episodes"
                refused.append(Refusal(subject=left, verdict="waiting", reason=str(error)))
                break
            except ModelError as error:
                refused.append(Refusal(subject=episode.id, verdict="refused", reason=f"the gate failed: {error}"))
        return found, refused


def stages_of(bank: str) -> frozenset[Stage]:
    return frozenset((bank,)) if bank in BOTH else BOTH


def _closed(episode: Episode, as_of: datetime) -> bool:
    return episode.success is not None and (episode.ended_at is None or episode.ended_at <= as_of)
