"""Granting responsibility credit once an outcome is ripe, and taking it back when late events change that outcome.

Our reconstruction of TIDE's delayed credit (design sections 5 and 7): an outcome has a version, a credit says on which
one it was granted, and a credit on a version that no longer stands is reversed by a compensating entry, never erased.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from afterwit.credit.responsibility.removal import Scorer
from afterwit.credit.responsibility.replay import by_candidate
from afterwit.credit.temporal.lifecycle import Lifecycles
from afterwit.model import Credit, Episode, content_hash, normalised


@dataclass(frozen=True, kw_only=True)
class Grants:
    """new: the entries of this round, reversals first. standing: every credit that stands after them."""

    new: tuple[Credit, ...] = ()
    standing: tuple[Credit, ...] = ()


def grants(
    earlier: Iterable[Credit], outcomes: Mapping[str, str], grant: Callable[[Sequence[str]], Iterable[Credit]]
) -> Grants:
    """earlier: all entries so far, oldest first. outcomes: episode id → version of its outcome, ripe ones alone.
    grant: episode ids → their credits.

    An episode is credited once per version of its outcome. Doing this twice on the same outcomes adds nothing.
    """
    standing: dict[str, Credit] = {}
    times: Counter[str] = Counter()
    for credit in earlier:
        if credit.reverses is None:
            standing[credit.id] = credit
        elif standing.pop(credit.reverses, None) is not None:
            times[credit.episode_id] += 1
    stale = [c for c in standing.values() if c.outcome and outcomes.get(c.episode_id) != c.outcome]
    back = [_reversal(credit) for credit in stale]
    for credit in stale:
        del standing[credit.id]
        times[credit.episode_id] += 1
    done = {credit.episode_id for credit in standing.values()}
    fresh = [
        replace(
            credit,
            id=content_hash(credit.id, outcomes[credit.episode_id], str(times[credit.episode_id]))[:32],
            outcome=outcomes[credit.episode_id],
        )
        for credit in grant([episode for episode in outcomes if episode not in done])
    ]
    return Grants(new=(*back, *fresh), standing=(*standing.values(), *fresh))


def outcomes_of(episodes: Iterable[Episode], found: Lifecycles) -> dict[str, str]:
    """Episode id → version of its outcome: of the lifecycles of all its deliveries, or the verdict it was closed
    with. Episodes whose outcome is not ripe are left out."""
    ripe = found.versions()
    versions = {}
    for episode in episodes:
        if episode.delivery_ids:
            if all(id_ in ripe for id_ in episode.delivery_ids):
                versions[episode.id] = content_hash(*(f"{id_} {ripe[id_]}" for id_ in sorted(episode.delivery_ids)))[
                    :32
                ]
        elif episode.success is not None:
            versions[episode.id] = f"success {episode.success}"
    return versions


def scorers(found: Lifecycles, objective: str) -> Callable[[Episode], Scorer | None]:
    """The utility of the outputs that an episode could have chosen, from the arms of its randomised test: their rate
    of the objective. None outside an experiment, where arms are not comparable."""
    items, deliveries = found.items(), found.deliveries
    engaged = items.engagements.get(objective)
    place = {id_: row for row, id_ in enumerate(deliveries.ids.tolist())}
    arms: dict[int, dict[str, float]] = {}
    if engaged is not None:
        for stratum, text, seen, hits in zip(
            items.strata.tolist(), items.texts.tolist(), items.exposures.tolist(), engaged.tolist(), strict=True
        ):
            arms.setdefault(stratum, {})[normalised(text)] = hits / seen

    def scorer_of(episode: Episode) -> Scorer | None:
        rows = [place[id_] for id_ in episode.delivery_ids if id_ in place]
        tested = [row for row in rows if deliveries.experiments[row] >= 0]
        if not tested:
            return None
        rates = arms.get(int(deliveries.strata[tested[0]]), {})
        known = {text: rates[normalised(text)] for text in episode.candidates if normalised(text) in rates}
        return by_candidate(known)

    return scorer_of


def unharmed(standing: Iterable[Credit]) -> frozenset[str]:
    """Cards of known utility whose removal would not have improved it: no edit for harm touches them."""
    change: dict[str, float] = {}
    for credit in standing:
        if credit.utility_change is not None and credit.weight > 0:
            change[credit.card_id] = change.get(credit.card_id, 0.0) + credit.weight * credit.utility_change
    return frozenset(card for card, total in change.items() if total >= 0)


def _reversal(credit: Credit) -> Credit:
    return replace(
        credit,
        id=content_hash("reverses", credit.id)[:32],
        reason="late events changed the outcome that it rested on",
        reverses=credit.id,
    )
