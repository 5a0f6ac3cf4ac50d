"""The lessons of a gate without its verdict: for both stages, whatever the cause; the writer of memory that does not
attribute, in the same words."""

from collections.abc import Sequence
from dataclasses import dataclass

from afterwit.credit.gate.compare import PlanReplay
from afterwit.credit.gate.evidence import signs_of
from afterwit.credit.gate.lessons import lessons_of, worked
from afterwit.model import Attribution, Card, Episode, Stage


@dataclass(frozen=True, kw_only=True, eq=False)
class Writer:
    """replay: as the gate beside it has it, so that both see the same. Of a success it writes what was done."""

    replay: PlanReplay | None = None
    name: str = "writer"

    def __call__(self, episode: Episode, cards: Sequence[Card]) -> Attribution:
        signs, replayed = signs_of(episode, self.replay)
        both: tuple[Stage, ...] = ("planning", "execution")
        lessons = worked(episode) if episode.success else lessons_of(episode, both, signs, replayed)
        return Attribution(
            episode_id=episode.id,
            stage="both",
            confidence=1.0,
            success=bool(episode.success),
            lessons=lessons,
            reason="written whatever the cause",
        )
