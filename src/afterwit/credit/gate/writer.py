"""Lessons without a verdict: for both stages, whatever the cause; the writer of memory that does not attribute, in the
same words. Of a stage in which nothing shows it guesses, as who must blame both will."""

from collections.abc import Sequence
from dataclasses import dataclass

from afterwit.credit.gate.compare import PlanReplay
from afterwit.credit.gate.evidence import signs_of
from afterwit.credit.gate.lessons import case, guess, lessons_of, worked
from afterwit.model import Attribution, Card, Episode, Lesson, Stage


@dataclass(frozen=True, kw_only=True, eq=False)
class Writer:
    """replay: as the gate beside it has it, so that both see the same. Of a success it writes what was done.
    cases: whether an episode that teaches a stage nothing is kept as it was, as memories that append do."""

    replay: PlanReplay | None = None
    cases: bool = False
    name: str = "writer"

    def __call__(self, episode: Episode, cards: Sequence[Card]) -> Attribution:
        signs, replayed = signs_of(episode, self.replay)
        both: tuple[Stage, ...] = ("planning", "execution")
        shown = worked(episode) if episode.success else lessons_of(episode, both, signs, replayed)
        lessons: dict[Stage, Lesson] = {}
        for stage in both:
            lesson = shown.get(stage) or (None if episode.success else guess(episode, stage))
            if lesson is None and self.cases:
                lesson = case(episode, stage)
            if lesson is not None:
                lessons[stage] = lesson
        return Attribution(
            episode_id=episode.id,
            stage="both",
            confidence=1.0,
            success=bool(episode.success),
            lessons=lessons,
            reason="written whatever the cause",
        )
