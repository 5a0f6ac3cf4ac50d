"""Cards, evidence and worlds made by hand or by chance, for the tests of evolve."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from afterwit.credit.items import Design, Items
from afterwit.credit.semantic.assess import assess, available
from afterwit.credit.semantic.conditions import Side
from afterwit.credit.semantic.contrast import Cells, cells
from afterwit.credit.semantic.evidence import EvidenceTable
from afterwit.credit.semantic.fitness import Prior, posterior
from afterwit.evolve.draft import RoundDraft
from afterwit.evolve.evidenced import Standing, on_side, standings
from afterwit.evolve.round import plan_round
from afterwit.model import Bank, Card, Condition, Edit, Posterior, Provenance, Round, Stance, Trial, fold
from credit_cases import LATE, make_design, make_items

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def claim(decision: str, *, prefer: bool = True, when: str = "", **changes: object) -> Card:
    """A provisional card for or against a decision."""
    stance = Stance(decision=decision, prefer=prefer)
    values: dict[str, object] = {
        "id": f"{stance} where {when or 'always'}",
        "scope": "acme/push",
        "key": decision,
        "guidance": f"{'Prefer' if prefer else 'Avoid'} {decision}.",
        "when": Condition.parse(when),
        "stance": stance,
        "provenance": Provenance(operator="admit", evidence=(f"evidence of {decision}",), round_id="earlier"),
        "created_at": NOW,
        "valid_from": NOW,
    }
    return Card(**(values | changes))  # type: ignore[arg-type]


def trial(effect: float = 0.3, *, needed: int = 10, at: datetime = NOW, **changes: object) -> Trial:
    return replace(Trial(admitted_at=at, needed=needed, effect=effect), **changes)  # type: ignore[arg-type]


def make_table(
    effects: Mapping[str, float],
    *,
    se: float = 0.05,
    verdicts: Mapping[str, str] = {},
    prior_sd: float = 0.3,
    strata: int = 40,
    **changes: object,
) -> EvidenceTable:
    """Evidence with these effects; a verdict not given is supported where the interval excludes 0."""
    n = len(effects)
    effect, error = np.array(list(effects.values())), np.full(n, se)
    post = posterior(effect, error, Prior(mean=0.0, sd=prior_sd))
    plain = np.where(np.abs(effect) > 1.96 * se, "supported", "insufficient")
    values: dict[str, object] = {
        "objective": "click",
        "as_of": NOW,
        "names": tuple(effects),
        "effect": effect,
        "se": error,
        "low": effect - 1.96 * se,
        "high": effect + 1.96 * se,
        "df": np.full(n, strata - 1),
        "strata": np.full(n, strata),
        "treated": np.full(n, 2 * strata),
        "controls": np.full(n, 2 * strata),
        "posterior_mean": post.mean,
        "posterior_sd": post.sd,
        "p_sign": post.p_sign,
        "joint": post.mean.copy(),
        "verdict": np.array([verdicts.get(name, v) for name, v in zip(effects, plain, strict=True)], dtype=object),
        "enough": np.ones(n, dtype=bool),
        "counterexample": np.zeros(n, dtype=bool),
        "prior_mean": 0.0,
        "prior_sd": prior_sd,
    }
    return EvidenceTable(**(values | changes))  # type: ignore[arg-type]


def stand(card: Card, table: EvidenceTable, side: Side | None = None) -> Standing:
    """The card's standing by the table alone; side: the effect where the card applies, for one with a condition."""
    assert card.stance
    row = table.row(table.index()[card.stance.decision])
    if side is not None:
        row = on_side(row, side, str(card.when), table)
    return Standing(
        row=row,
        fitness=Posterior(mean=row.posterior_mean, sd=row.posterior_sd, strata=row.strata),
        verdict=row.verdict if row.verdict != "supported" or card.stance.sign * row.effect > 0 else "contradicted",
        p_sign=row.p_sign,
    )


def side(effect: float, se: float = 0.05) -> Side:
    return Side(effect=effect, low=effect - 1.96 * se, high=effect + 1.96 * se, strata=20)


def said(cards: Iterable[Card]) -> list[tuple[str, str]]:
    """Stance and condition of each card, sorted."""
    return sorted((str(card.stance), str(card.when)) for card in cards)


def draft(*cards: Card) -> RoundDraft:
    return RoundDraft(round_id="round", live={card.id: card for card in cards})


def bank(*cards: Card, version: int = 1) -> Bank:
    return Bank(scope="acme/push", name="content", version=version, cards=cards)


def after(before: Bank, edits: Iterable[Edit]) -> Bank:
    """The bank once the edits are applied."""
    cards = {card.id: card for card in before.cards} | fold(edits)
    return replace(before, version=before.version + 1, cards=tuple(c for c in cards.values() if c.live))


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """Randomised tests, one a day, of four texts each; every decision is shown by two of the four."""

    items: Items
    design: Design

    def known(self, as_of: datetime) -> "World":
        items, design = available(self.items, self.design, as_of)
        return World(items=items, design=design)

    def table(self, as_of: datetime = LATE) -> EvidenceTable:
        return assess(self.items, self.design, objective="click", as_of=as_of)

    def cells(self) -> Cells:
        return cells(self.items, self.design, "click")

    def standing(self, *cards: Card) -> Mapping[str, Standing]:
        return standings(cards, self.table(), self.items, self.cells())

    def round(self, before: Bank, as_of: datetime = LATE, **settings: object) -> Round:
        """A round on what was available then."""
        known = self.known(as_of)
        return plan_round(
            before,
            known.table(as_of),
            items=known.items,
            design=known.design,
            as_of=as_of,
            round_id=str(settings.pop("round_id", f"round of {as_of}")),
            **settings,  # type: ignore[arg-type]
        )


def world(
    effects: Mapping[str, float | Sequence[float]],
    *,
    places: Sequence[str] = (),
    strata: int = 120,
    seed: int = 0,
    clicks: float = 100.0,
    copies: Mapping[str, str] = {},
) -> World:
    """effects: decision → what it does to the log rate, per place where there are several. copies: decision → another
    that it always goes with, ``-`` before the name where it goes with the other's absence."""
    rng = np.random.default_rng(seed)
    code = np.repeat(np.arange(strata), 4)
    place = code % max(len(places), 1)
    names = list(effects)
    shown = np.zeros((len(code), len(names)))
    for column in range(len(names)):
        for test in range(strata):
            shown[4 * test + rng.choice(4, 2, replace=False), column] = 1
    for name, other in copies.items():
        source = shown[:, names.index(other.removeprefix("-"))]
        shown[:, names.index(name)] = 1 - source if other.startswith("-") else source
    beta = np.zeros(len(code))
    for column, effect in enumerate(effects.values()):
        by_place = np.broadcast_to(np.asarray(effect, dtype=float), (max(len(places), 1),))
        beta += by_place[place] * shown[:, column]
    seen = rng.poisson(clicks * np.exp(beta + rng.normal(0, 0.05, len(code))))
    contexts: dict[str, list[object]] = {"place": [places[i] for i in place]} if places else {}
    items = make_items(code.tolist(), [100 * clicks] * len(code), seen.tolist(), days=code.tolist(), contexts=contexts)
    return World(items=items, design=make_design(shown, names))
