"""Admit: a decision that passes admission becomes a provisional card with a declared trial."""

from datetime import UTC, datetime

import numpy as np

from afterwit.credit.confirmation.trials import declare_trial
from afterwit.model import Card, Condition, Edit, Evidence, Posterior, Provenance, Stance, content_hash


def admitted(
    row: Evidence,
    *,
    scope: str,
    bank: str,
    key: str,
    guidance: str,
    when: Condition,
    prefer: bool,
    cases: tuple[str, ...],
    round_id: str,
    at: datetime,
    parents: tuple[str, ...] = (),
    since: np.datetime64 | None = None,
) -> Card:
    """A provisional card for the evidence's decision; its trial is fixed here, before any later item is seen.

    since: when the effect became what it is, where it was another one before.
    """
    variance = row.strata * row.se**2
    return Card(
        id=content_hash(round_id, row.decision, str(when), str(prefer))[:32],
        scope=scope,
        bank=bank,
        key=key,
        guidance=guidance,
        when=when,
        stance=Stance(decision=row.decision, prefer=prefer),
        effect=row.joint,
        fitness={row.objective: Posterior(mean=row.posterior_mean, sd=row.posterior_sd, strata=row.strata)},
        trial=declare_trial(effect=row.posterior_mean, stratum_variance=variance, as_of=at),
        provenance=Provenance(operator="admit", parents=parents, evidence=(row.id,), round_id=round_id),
        cases=cases,
        created_at=at,
        valid_from=at if since is None else since.astype("datetime64[us]").item().replace(tzinfo=UTC),
    )


def admit(edit_id: str, card: Card, row: Evidence) -> Edit:
    reason = f"P(sign) {row.p_sign:.3f}: {row.reason}"
    return Edit(
        id=edit_id,
        operator="admit",
        writes=(card,),
        parents=card.provenance.parents,
        evidence=(row.id,),
        reason=reason,
    )
