"""Selection to capacity against naive and exhaustive searches."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterwit.credit.items import Floats
from afterwit.credit.semantic.joint import stratum_centred
from afterwit.evolve.coverage import Selection, holds, pursue, select
from afterwit.evolve.rules import EvolveRules
from afterwit.model import Card, Condition
from afterwit.ports import Capacity
from credit_cases import LATE
from evolve_cases import World, after, bank, claim, world

ROOMY = Capacity(cards=100, tokens=10_000)
EFFECTS = {"a": 0.5, "b": -0.4, "c": 0.3, "d": 0.2, "e": 0.0}


def problem(seed: int, columns: int = 6, rows: int = 40, *, apart: bool = False) -> tuple[Floats, Floats]:
    """Columns and a target to explain by them; apart: no two columns share a row."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, columns))
    if apart:
        x *= np.arange(rows)[:, None] % columns == np.arange(columns)
    return x, x @ rng.normal(size=columns) + rng.normal(size=rows)


def gram_of(x: Floats) -> tuple[Callable[[int], Floats], Floats]:
    gram = x.T @ x
    return lambda j: gram[:, j], np.diag(gram).copy()


def picked(x: Floats, y: Floats, room: int, signs: Floats | None = None) -> list[int]:
    n = x.shape[1]
    signs = np.sign(x.T @ y) if signs is None else signs
    return pursue(*gram_of(x), x.T @ y, signs, np.ones(n, dtype=np.int64), [], Capacity(cards=room, tokens=n))[0]


def left(x: Floats, y: Floats, chosen: list[int]) -> float:
    """What the best fit of the chosen columns leaves unexplained."""
    fit = np.linalg.lstsq(x[:, chosen], y, rcond=None)[0]
    return float(((y - x[:, chosen] @ fit) ** 2).sum())


def naive(x: Floats, y: Floats, room: int, signs: Floats) -> list[int]:
    """Forward selection as told: refit the chosen, then try each other column alone on what is left."""
    chosen: list[int] = []
    while len(chosen) < room:
        fit = np.linalg.lstsq(x[:, chosen], y, rcond=None)[0] if chosen else np.zeros(0)
        rest = y - x[:, chosen] @ fit
        drops = {}
        for j in set(range(x.shape[1])) - set(chosen):
            slope = x[:, j] @ rest / (x[:, j] @ x[:, j])
            if slope * signs[j] > 0:
                drops[j] = rest @ rest - ((rest - slope * x[:, j]) ** 2).sum()
        if not drops:
            break
        chosen.append(max(drops, key=lambda j: drops[j]))
    return chosen


@pytest.mark.parametrize("seed", range(25))
def test_the_pursuit_is_the_naive_forward_selection(seed: int):
    x, y = problem(seed)
    signs = np.sign(np.random.default_rng(seed).normal(size=6) + 2 * np.sign(x.T @ y))
    assert picked(x, y, 4, signs) == naive(x, y, 4, signs)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("room", [1, 2, 3])
def test_where_columns_do_not_overlap_no_subset_is_better(seed: int, room: int):
    x, y = problem(seed, apart=True)
    best = min(combinations(range(6), room), key=lambda chosen: left(x, y, list(chosen)))
    assert set(picked(x, y, room)) == set(best)


@pytest.mark.parametrize("seed", range(25))
def test_the_first_pick_is_the_best_single_one_and_three_come_close_to_the_best_three(seed: int):
    x, y = problem(seed)
    assert picked(x, y, 1) == [min(range(6), key=lambda j: left(x, y, [j]))]
    best = min(left(x, y, list(chosen)) for chosen in combinations(range(6), 3))
    assert y @ y - left(x, y, picked(x, y, 3)) >= 0.85 * (y @ y - best)


@given(
    seed=st.integers(0, 10_000),
    columns=st.integers(1, 8),
    cards=st.integers(-1, 9),
    budget=st.integers(-5, 120),
    tokens=st.lists(st.integers(0, 60), min_size=8, max_size=8),
    first=st.sets(st.integers(0, 7)),
    empty=st.sets(st.integers(0, 7)),
    signs=st.lists(st.sampled_from([-1.0, 1.0]), min_size=8, max_size=8),
)
@settings(max_examples=150, deadline=None)
def test_capacity_in_cards_and_tokens_holds_for_whatever_comes(
    seed: int,
    columns: int,
    cards: int,
    budget: int,
    tokens: list[int],
    first: set[int],
    empty: set[int],
    signs: list[float],
):
    x, y = problem(seed, columns)
    x[:, [j for j in empty if j < columns]] = 0
    size = np.array(tokens[:columns], dtype=np.int64)
    sign = np.array(signs[:columns])
    protected = sorted(j for j in first if j < columns)
    chosen, effects = pursue(*gram_of(x), x.T @ y, sign, size, [protected], Capacity(cards=cards, tokens=budget))
    assert len(chosen) == len(set(chosen)) <= max(cards, 0)
    assert size[chosen].sum() <= max(budget, 0)
    assert (effects * sign >= 0).all()
    assert not effects[[j for j in range(columns) if j not in chosen]].any()
    assert np.isfinite(effects).all()
    # Others come only once no protected one fits any more.
    place = next((i for i, j in enumerate(chosen) if j not in protected), len(chosen))
    assert set(chosen[:place]) <= set(protected)
    if place < len(chosen):
        spare = budget - size[chosen[:place]].sum()
        assert all(size[j] > spare for j in protected if j not in chosen[:place])


def test_of_protected_cards_that_do_not_all_fit_those_that_explain_most_stay():
    x = np.eye(4)
    y = np.array([0.1, 3.0, 2.0, 9.0])
    chosen, _ = pursue(
        *gram_of(x), x.T @ y, np.ones(4), np.ones(4, dtype=np.int64), [[0, 1, 2]], Capacity(cards=2, tokens=99)
    )
    assert chosen == [1, 2]


def test_an_earlier_group_is_picked_before_a_later_one_that_explains_more():
    x, y = np.eye(4), np.array([0.1, 3.0, 2.0, 9.0])
    chosen, _ = pursue(
        *gram_of(x), x.T @ y, np.ones(4), np.ones(4, dtype=np.int64), [[0], [2, 1]], Capacity(cards=2, tokens=99)
    )
    assert chosen == [0, 1]


def choose(
    found: World, *cards: Card, capacity: Capacity = ROOMY, protected: frozenset[str] = frozenset()
) -> Selection:
    table = found.table()
    claimed = {card.id: s.row.joint for card in cards for s in [found.standing(card)[card.id]]}
    return select(cards, protected, table, found.items, found.design, claimed=claimed, capacity=capacity)


def cards_of(effects: dict[str, float]) -> list[Card]:
    return [claim(name, prefer=effect >= 0) for name, effect in effects.items()]


def test_the_strongest_claims_are_kept_first():
    found = choose(world(EFFECTS), *cards_of(EFFECTS), capacity=Capacity(cards=3, tokens=999))
    assert [name.split()[1] for name in found.kept] == ["a", "b", "c"]


def test_effects_are_the_best_fit_of_the_joint_prediction_by_the_cards_kept():
    found = world(EFFECTS, copies={"e": "a"})
    cards = cards_of(EFFECTS)[:3]
    chosen = choose(found, *cards)
    table = found.table()
    centred = stratum_centred(found.items, found.design, objective="click")
    x = centred.forward(np.eye(len(EFFECTS)))
    root = np.sqrt(centred.weight)[:, None]
    fit = np.linalg.lstsq(root * x[:, :3], root[:, 0] * (x @ table.joint), rcond=None)[0]
    assert [chosen.effects[card.id] for card in cards] == pytest.approx(fit.tolist(), rel=1e-4)
    # Of the two decisions that always go together one card is left, and speaks for both.
    assert chosen.effects[cards[0].id] == pytest.approx(table.joint[0] + table.joint[4], abs=0.01)


def test_a_card_that_only_repeats_another_adds_nothing():
    found = world(EFFECTS, copies={"e": "a"})
    chosen = choose(found, claim("a"), claim("e"), claim("c"))
    assert len(chosen.kept) == 2
    assert claim("c").id in chosen.kept


def test_an_effect_never_goes_against_its_cards_stance():
    found = world(EFFECTS)
    wrong = claim("a", prefer=False)
    assert wrong.id not in choose(found, wrong, claim("c")).kept
    kept = choose(found, wrong, claim("c"), protected=frozenset([wrong.id]))
    assert kept.kept[0] == wrong.id
    assert kept.effects[wrong.id] == 0
    assert kept.effects[claim("c").id] > 0


def test_protected_cards_come_first_though_they_add_less():
    chosen = choose(
        world(EFFECTS),
        *cards_of(EFFECTS),
        capacity=Capacity(cards=2, tokens=999),
        protected=frozenset([claim("d").id]),
    )
    assert chosen.kept == (claim("d").id, claim("a").id)


def test_cards_too_large_for_what_is_left_make_way_for_smaller_ones():
    long = claim("a", guidance="word " * 50)
    chosen = choose(world(EFFECTS), long, claim("c"), claim("d"), capacity=Capacity(cards=9, tokens=20))
    assert chosen.kept == (claim("c").id, claim("d").id)


def test_the_order_of_cards_does_not_matter():
    found, cards = world(EFFECTS), cards_of(EFFECTS)
    assert choose(found, *cards) == choose(found, *cards[::-1])


def test_a_card_of_one_context_explains_what_the_evidence_says_there():
    found = world({"a": (0.5, -0.4), "c": 0.3}, places=("web", "mail"))
    sides = [claim("a", when="place=web"), claim("a", prefer=False, when="place!=web")]
    chosen = choose(found, *sides, claim("c"))
    assert set(chosen.kept) == {sides[0].id, sides[1].id, claim("c").id}
    assert chosen.effects[sides[0].id] == pytest.approx(0.5, abs=0.07)
    assert chosen.effects[sides[1].id] == pytest.approx(-0.4, abs=0.07)
    assert chosen.effects[claim("c").id] == pytest.approx(0.3, abs=0.07)


def test_items_are_held_by_a_condition_where_their_context_is_known():
    items = world({"a": 0.0}, places=("web", "mail"), strata=3).items
    items.contexts["place"][0] = None
    assert holds(Condition(), items).all()
    assert holds(Condition.parse("place = web"), items).tolist() == [False, True, True, True] + [False] * 4 + [True] * 4
    assert not holds(Condition.parse("unknown = 1"), items).any()


def test_nothing_is_kept_where_there_is_no_card_or_no_room():
    found = world(EFFECTS)
    assert choose(found) == Selection(kept=(), effects={})
    for capacity in (Capacity(cards=0, tokens=99), Capacity(cards=9, tokens=0), Capacity(cards=-3, tokens=-9)):
        assert choose(found, claim("a"), capacity=capacity) == Selection(kept=(), effects={})


FOUND = world({f"d{i}": 0.6 - 0.1 * i for i in range(12)} | {"split": (0.5, -0.4)}, places=("web", "mail"))


@given(
    cards=st.integers(1, 16),
    tokens=st.integers(1, 200),
    held=st.lists(st.tuples(st.integers(0, 11), st.booleans(), st.booleans(), st.integers(1, 40)), max_size=8),
    said=st.integers(0, 3),
)
@settings(max_examples=25, deadline=None)
def test_field_report_13_a_round_never_leaves_a_bank_above_capacity(
    cards: int, tokens: int, held: list[tuple[int, bool, bool, int]], said: int
):
    given_ = [
        claim(f"d{d}", prefer=prefer, status="active" if active else "provisional", guidance=f"{d} " * words)
        for d, prefer, active, words in held
    ]
    spoken = [claim(f"said {i}", stance=None, status="active") for i in range(said)]
    before = bank(*{card.id: card for card in (*given_, *spoken)}.values())
    room = Capacity(cards=max(cards, said), tokens=max(tokens, sum(card.tokens for card in spoken)))
    made = FOUND.round(before, LATE, rules=EvolveRules(capacity=room))
    left_ = after(before, made.edits)
    assert len(left_.cards) <= room.cards
    assert sum(card.tokens for card in left_.cards) <= room.tokens
    assert {card.id for card in spoken} <= {card.id for card in left_.cards}
    hashes = [card.content_hash for card in left_.cards]
    assert len(set(hashes)) == len(hashes)
    again = FOUND.round(left_, LATE, rules=EvolveRules(capacity=room), round_id="again")
    assert len(after(left_, again.edits).cards) <= room.cards


def test_a_bank_whose_room_shrank_is_cut_back_to_its_strongest_claims():
    strong = [replace(card, status="active") for card in cards_of(EFFECTS)[:4]]
    made = world(EFFECTS).round(bank(*strong), rules=EvolveRules(capacity=Capacity(cards=2, tokens=999)))
    assert {str(c.stance) for c in after(bank(*strong), made.edits).cards} == {"prefer a", "avoid b"}
