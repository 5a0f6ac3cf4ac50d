"""Taking credit back that rested on an earlier version of a lifecycle (design section 5)."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from afterwit.model import Credit, content_hash


def compensations(credits: Iterable[Credit], changed_episodes: Collection[str]) -> tuple[Credit, ...]:
    """One reversing entry for every credit of these episodes that still stands, in the order given.

    A reversal carries the weight that it takes back; its id follows from the credit's, so that reversing twice is
    reversing once. Credits that gave nothing, and reversals themselves, are not reversed.
    """
    given = tuple(credits)
    reversed_already = {credit.reverses for credit in given if credit.reverses}
    return tuple(
        replace(
            credit,
            id=content_hash("reverses", credit.id)[:32],
            reason="late events changed the outcome that it rested on",
            reverses=credit.id,
        )
        for credit in given
        if credit.episode_id in changed_episodes
        and credit.reverses is None
        and credit.weight > 0
        and credit.id not in reversed_already
    )
