"""Everything ever examined, with what all evidence says of it now: the strongest, and the longest, memory."""

import numpy as np

from afterwit.evaluate.policies.protocol import Known, Setting
from afterwit.evolve.wording import guidance_for
from afterwit.model import Card, Condition, Posterior, Provenance, Stance, content_hash


class FullHistory:
    """A card for every examined decision with its current joint effect. B does not bind it."""

    name = "full_history"
    bounded = False

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._cards: tuple[Card, ...] = ()

    def start(self, cards: tuple[Card, ...], known: Known) -> None:
        self._cards = cards

    def update(self, known: Known) -> None:
        table = known.evidence
        self._cards = tuple(
            plain_card(
                known,
                table.names[i],
                float(table.joint[i]),
                Posterior(
                    mean=float(table.posterior_mean[i]),
                    sd=float(table.posterior_sd[i]),
                    strata=int(table.strata[i]),
                ),
                self._setting,
            )
            for i in np.flatnonzero(table.joint)
        )

    def cards(self) -> tuple[Card, ...]:
        return self._cards


def plain_card(known: Known, decision: str, effect: float, fitness: Posterior, setting: Setting) -> Card:
    """A card without trial or cases, for memories that never confirm anything."""
    return Card(
        id=content_hash(setting.scope, decision)[:32],
        scope=setting.scope,
        bank=setting.bank,
        key=setting.describe(decision) or decision,
        guidance=guidance_for(decision, effect > 0, setting.describe),
        when=_ALWAYS,
        stance=Stance(decision=decision, prefer=effect > 0),
        effect=effect,
        fitness={known.evidence.objective: fitness},
        provenance=_ADMITTED,
        created_at=known.as_of,
        valid_from=known.as_of,
    )


_ALWAYS = Condition()
_ADMITTED = Provenance(operator="admit")
