"""One declared test per card version, in batches whose level is never refunded, and looks at confirmed cards."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from scipy import special, stats
from statsmodels.stats.multitest import multipletests

from afterwit.credit.semantic.meta import random_effects
from afterwit.evolve import confirmation
from afterwit.model import Bank, Batch, Card, Round
from evolve_cases import World, after, bank, claim, trial, world

ADMITTED = 60
GAMMA = np.arange(1, 20) ** -1.6 / special.zeta(1.6)


def day(n: int) -> datetime:
    """Test n was delivered n days after the first; its outcome was known a week later."""
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=n)


def on_trial(decision: str, *, prefer: bool = True, needed: int = 30, since: int = ADMITTED, **changes: object) -> Card:
    declared = trial(0.2 if prefer else -0.2, needed=needed, at=day(since))
    return claim(decision, prefer=prefer, **({"trial": declared} | changes))  # type: ignore[arg-type]


def fall_due(
    found: World, cards: Sequence[Card], on: int, history: Sequence[Batch] = (), *, final: bool = True
) -> tuple[tuple[Card, ...], Batch | None]:
    known = found.known(day(on))
    outcome = confirmation.test_due(
        cards,
        known.table(day(on)),
        known.items,
        known.cells(),
        history,
        as_of=day(on),
        final=final,
        round_id="round",
    )
    return outcome.tested, outcome.batch


def demote(found: World, *cards: Card) -> dict[str, str]:
    return dict(confirmation.to_demote(cards, found.table(), found.items, found.cells()))


NULLS = world({f"d{i:02}": 0.0 for i in range(24)}, strata=200)
REAL = world({"up": 0.3, "down": -0.3, "none": 0.0}, strata=200)


@pytest.mark.parametrize("prefer", [True, False])
def test_a_test_reads_the_declared_number_of_strata_that_came_after_admission(prefer: bool):
    card = on_trial("none", prefer=prefer, needed=25)
    (done,), batch = fall_due(REAL, [card], 190)
    held = REAL.known(day(190)).cells()
    rows = np.flatnonzero((held.decision == 2) & (held.first_delivered > np.datetime64("2024-03-01", "us")))
    rows = rows[np.argsort(held.first_delivered[rows])][:25]
    means = random_effects(held.effect[rows], held.variance[rows], np.zeros(len(rows), dtype=np.int64), 1)
    t = (1 if prefer else -1) * means.effect[0] / means.se[0]
    assert batch is not None
    assert batch.p_values[card.id] == pytest.approx(stats.t.sf(t, 24))
    assert done.trial is not None
    assert (done.trial.p_value, done.trial.tested_at) == (batch.p_values[card.id], day(190))
    assert (done.trial.post_effect, done.trial.post_sd) == pytest.approx((means.effect[0], means.se[0]))


def test_the_size_is_fixed_at_admission_so_that_waiting_longer_changes_nothing():
    card = on_trial("up", needed=25)
    figures = set()
    for on in (110, 140, 190):
        (done,), _ = fall_due(REAL, [card], on)
        assert done.trial is not None
        assert (done.trial.needed, done.trial.admitted_at, done.trial.effect) == (25, day(ADMITTED), 0.2)
        figures.add((done.trial.p_value, done.trial.post_effect))
    # σ_b² is pooled over all that is known, so the last digits may move; the strata may not.
    assert np.ptp([p for _, p in figures]) < 0.01


def test_what_came_before_admission_has_no_say():
    card = on_trial("up", needed=25)
    (whole,), _ = fall_due(REAL, [card], 190)
    cut = REAL.items.first_delivered_at > np.datetime64("2024-03-01", "us")
    alone = World(
        items=REAL.items.take(cut), design=replace(REAL.design, matrix=REAL.design.matrix[np.flatnonzero(cut)])
    )
    (later,), _ = fall_due(alone, [card], 190)
    assert whole.trial is not None
    assert later.trial is not None
    assert whole.trial.post_effect == pytest.approx(later.trial.post_effect, abs=0.005)
    unripe = on_trial("up", since=190)
    assert fall_due(REAL, [unripe], 190) == ((), None)


def test_strata_whose_randomisation_is_in_doubt_confirm_nothing():
    doubted = World(items=replace(REAL.items, confirmable=np.zeros(len(REAL.items), dtype=bool)), design=REAL.design)
    assert fall_due(doubted, [on_trial("up")], 190) == ((), None)


@pytest.mark.parametrize(
    ("decision", "prefer", "confirmed"),
    [("up", True, True), ("up", False, False), ("down", False, True), ("down", True, False)],
)
def test_each_stance_is_tested_in_its_own_direction(decision: str, prefer: bool, confirmed: bool):
    (done,), _ = fall_due(REAL, [on_trial(decision, prefer=prefer)], 190)
    assert done.trial is not None
    assert (done.trial.confirmed, done.status) == (confirmed, "active" if confirmed else "provisional")


def test_a_card_with_a_condition_is_tested_where_it_applies():
    found = world({"d": (0.5, -0.4)}, places=("web", "mail"), strata=200)
    cards = [
        on_trial("d", when="place=mail", prefer=False),
        on_trial("d", when="place=web"),
        on_trial("d", when="place=mail"),
        on_trial("d", when="place=nowhere"),
    ]
    done, _ = fall_due(found, cards, 190)
    assert {(str(c.stance), str(c.when), c.status) for c in done} == {
        ("prefer d", "place = web", "active"),
        ("avoid d", "place = mail", "active"),
        ("prefer d", "place = mail", "provisional"),
    }


def test_each_side_of_a_split_is_confirmed_by_what_comes_after_the_split():
    found = world({"d": (0.5, -0.4), "other": 0.3}, places=("web", "mail"), strata=200)
    first = found.round(bank(), day(67))
    held = after(bank(), first.edits)
    last = found.round(held, day(207), final=True)
    assert {(str(c.stance), str(c.when), c.status) for c in after(held, last.edits).cards} == {
        ("prefer d", "place = web", "active"),
        ("avoid d", "place != web", "active"),
        ("prefer other", "always", "active"),
    }


def test_the_test_of_a_version_is_spent_once():
    cards = [on_trial(f"d{i:02}", needed=30) for i in range(24)]
    done, batch = fall_due(NULLS, cards, 150)
    assert batch is not None
    assert len(done) == 24
    again = [card for card in done if card.status == "provisional"]
    assert fall_due(NULLS, again, 207, [batch]) == ((), None)
    assert {(c.provenance.operator, c.provenance.round_id, c.version) for c in done} == {("confirm", "round", 2)}


def test_nothing_falls_due_early_alone_or_twice_a_month():
    cards = [on_trial(f"d{i:02}", needed=30) for i in range(24)]
    assert fall_due(NULLS, cards, 92, final=False) == ((), None)
    assert fall_due(NULLS, cards[:19], 150, final=False) == ((), None)
    done, batch = fall_due(NULLS, cards[:20], 150, final=False)
    assert batch is not None
    assert (len(done), batch.final) == (20, False)
    fresh = [on_trial(f"d{i:02}", needed=30, id=f"other {i}") for i in range(24)]
    assert fall_due(NULLS, fresh, 151, [batch], final=False) == ((), None)
    assert fall_due(NULLS, fresh, 182, [batch], final=False)[1] is not None


def test_at_a_freeze_every_open_trial_that_three_strata_allow_is_spent():
    cards = [on_trial("up", needed=200), on_trial("none", since=189), on_trial("down", prefer=False, since=190)]
    done, batch = fall_due(REAL, cards, 200)
    # Known on day 200 are the tests up to day 193: 4 of them after day 189, 3 after day 190.
    assert batch is not None
    assert batch.final
    assert {card.id for card in done} == {card.id for card in cards}
    assert fall_due(REAL, [on_trial("up", since=191)], 200) == ((), None)


@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_a_batch_confirms_what_benjamini_hochberg_does_at_its_level(seed: int, final: bool):
    effects = {f"d{i:02}": 0.15 * (i % 3 == 0) for i in range(24)}
    found = world(effects, strata=120, seed=seed)
    cards = [on_trial(name, needed=60, since=10) for name in effects]
    spent = [Batch(at=day(20), level=0.03 * GAMMA[0], p_values={"x": 0.9}, confirmed=(), max_rejections=1)]
    done, batch = fall_due(found, cards, 120, spent, final=final)
    assert batch is not None
    # The earlier batch found nothing, so its whole level is gone: what is left of q · Σ γ is its own share.
    assert batch.level == pytest.approx(0.03 * (1 - GAMMA[0]) if final else 0.03 * GAMMA[1])
    names = list(batch.p_values)
    rejected = multipletests([batch.p_values[name] for name in names], batch.level, "fdr_bh")[0]
    assert {c.id for c in done if c.status == "active"} == {n for n, r in zip(names, rejected, strict=True) if r}
    assert 0 < rejected.sum() < 24


def run(found: World, days: Sequence[int], *, final: bool = False) -> tuple[Bank, list[Round]]:
    held, rounds = bank(), []
    for on in days:
        history = [r.batch for r in rounds if r.batch]
        rounds.append(found.round(held, day(on), history=history, final=final and on == days[-1]))
        held = after(held, rounds[-1].edits)
    return held, rounds


def test_spent_level_is_never_refunded_whatever_becomes_of_the_cards():
    history: list[Batch] = []
    for i, on in enumerate((100, 130, 160, 190)):
        # New cards each time: those of the last batch are gone, their level with them.
        cards = [on_trial(f"d{j:02}", needed=3, since=on - 30, id=f"{i}-{j}") for j in range(24)]
        done, batch = fall_due(NULLS, cards, on, history, final=False)
        assert batch is not None
        assert batch.level == pytest.approx(0.03 * GAMMA[i])
        assert all(card.status == "provisional" for card in done)
        history.append(batch)
    assert sum(batch.level for batch in history) < 0.03
    last = fall_due(NULLS, [on_trial("d00", since=150)], 195, history)[1]
    assert last is not None
    assert last.level == pytest.approx(0.03 - sum(batch.level for batch in history))
    after_all = fall_due(NULLS, [on_trial("d01", since=150)], 195, [*history, last])[1]
    assert after_all is not None
    assert after_all.level == pytest.approx(0, abs=1e-12)
    assert after_all.confirmed == ()


def test_over_the_rounds_a_real_claim_is_admitted_tested_once_and_confirmed():
    held, rounds = run(REAL, [67, 97, 127, 157, 187, 207], final=True)
    status = {str(card.stance): card.status for card in held.cards}
    assert (status["prefer up"], status["avoid down"]) == ("active", "active")
    won = [name for made in rounds if made.batch for name in made.batch.wealth]
    assert len(won) == len(set(won))
    assert {c.id for c in held.cards if c.status == "active"} == set(won)
    admitted = {c.id: c.trial for r in rounds for e in r.edits if e.operator == "admit" for c in e.writes}
    for card in held.cards:
        declared = admitted[card.id]
        assert declared is not None
        assert card.trial is not None
        assert (card.trial.needed, card.trial.effect, card.trial.admitted_at) == (
            declared.needed,
            declared.effect,
            declared.admitted_at,
        )
    edits = [e for r in rounds for e in r.edits if e.operator == "confirm"]
    assert {name for e in edits for name in e.parents} == set(won)
    assert all("confirmed by what came since admission" in e.reason for e in edits)


def test_a_trial_in_a_small_bank_waits_for_evidence_and_not_for_company():
    alone = world({"up": 0.3}, strata=200)
    held, rounds = run(alone, range(67, 207, 7))
    first = next(i for i, made in enumerate(rounds) if made.batch and made.batch.wealth)
    assert first <= 8
    assert [card.status for card in held.cards] == ["active"]
    open_ = [made.waiting for made in rounds[1:first]]
    assert all(len(rows) == 1 and 0 <= rows[0].strata < rows[0].needed for rows in open_)
    assert all((rows[0].due_at is not None) == (rows[0].strata > 0) for rows in open_)
    assert not any(made.waiting for made in rounds[first:])


# Looks at confirmed cards


@pytest.mark.parametrize(
    ("decision", "prefer", "out"), [("up", True, False), ("up", False, True), ("down", True, True)]
)
def test_a_confirmed_card_is_demoted_when_what_came_since_is_against_it(decision: str, prefer: bool, out: bool):
    card = on_trial(decision, prefer=prefer, status="active")
    found = demote(REAL, card)
    assert set(found) == ({card.id} if out else set())
    assert all("always-valid interval" in reason for reason in found.values())


def test_a_confirmed_card_whose_effect_is_gone_is_demoted_once_that_is_certain():
    flat = world({"d": 0.0, "e": 0.0}, strata=900, clicks=4000.0)
    assert set(demote(flat, on_trial("d", status="active", since=0))) == {on_trial("d").id}
    assert demote(REAL, on_trial("none", status="active")) == {}


def test_no_look_counts_before_ten_strata_nor_for_cards_without_a_trial():
    assert demote(REAL, on_trial("up", prefer=False, status="active", since=190)) == {}
    assert demote(REAL, claim("up", prefer=False, status="active")) == {}
    assert demote(REAL, on_trial("up", prefer=False)) == {}
    assert demote(REAL, on_trial("unknown", status="active"), claim("up", stance=None, status="active")) == {}


def test_a_demoted_card_leaves_in_the_round_and_does_not_come_straight_back():
    card = on_trial("up", prefer=False, status="active", trial=trial(-0.2, at=day(ADMITTED), tested_at=day(90)))
    # All evidence together still says nothing against it: only what came since does.
    items = REAL.items
    early = items.first_delivered_at <= np.datetime64("2024-03-01", "us")
    clicks = np.where(early & (REAL.design.matrix[:, [0]].toarray().ravel() > 0), 30.0, items.engagements["click"])
    turned = World(items=replace(items, engagements={"click": clicks}), design=REAL.design)
    assert turned.standing(card)[card.id].verdict != "contradicted"
    made = turned.round(bank(card))
    assert [e.reason for e in made.edits if e.operator == "evict" and e.parents == (card.id,)]
    assert "avoid up" not in {str(c.stance) for c in after(bank(card), made.edits).cards}
