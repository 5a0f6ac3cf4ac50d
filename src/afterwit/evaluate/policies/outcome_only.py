"""No credit assignment: a decision is worth what items showing it got, whatever else differed."""

import numpy as np

from afterwit.evaluate.policies.full_history import plain_card
from afterwit.evaluate.policies.protocol import Known, Setting
from afterwit.model import Card, Posterior


class OutcomeOnly:
    """value_d = log((c_d + ½) / (n_d + 1)) − log(C / N): the pooled log rate of the items that show d less that of
    all, with no matched controls; the B largest by |value|. c, n: engagements and exposures. The support that the
    design asks of a decision is the only guard."""

    name = "outcome_only"
    bounded = True

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._cards: tuple[Card, ...] = ()

    def start(self, cards: tuple[Card, ...], known: Known) -> None:
        self._cards = cards

    def update(self, known: Known) -> None:
        objective, names = known.evidence.objective, known.design.names
        engaged, exposed = known.items.engagements[objective], known.items.exposures
        if not len(names) or not engaged.sum():
            return
        shown = known.design.matrix.T
        counts = shown @ engaged
        value = np.log((counts + 0.5) / (shown @ exposed + 1)) - np.log(engaged.sum() / exposed.sum())
        best = np.lexsort((np.array(names), -np.abs(value)))[: self._setting.rules.capacity.cards]
        self._cards = tuple(
            plain_card(
                known,
                names[i],
                float(value[i]),
                Posterior(mean=float(value[i]), sd=float((counts[i] + 0.5) ** -0.5), strata=0),
                self._setting,
            )
            for i in best
        )

    def cards(self) -> tuple[Card, ...]:
        return self._cards
