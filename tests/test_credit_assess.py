from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterwit.credit.items import Design, Items
from afterwit.credit.semantic.assess import assess, verdict_for
from afterwit.credit.semantic.evidence import EvidenceTable
from credit_cases import LATE, make_design, make_items, random_case

COLUMNS = ("effect", "se", "low", "high", "posterior_mean", "posterior_sd", "p_sign", "joint")
EFFECTS = np.array([0.4, -0.4, 0.2, -0.2, 0, 0, 0, 0])


def _assess(items: Items, design: Design, at: datetime = LATE) -> EvidenceTable:
    return assess(items, design, objective="click", as_of=at)


def _same(a: EvidenceTable, b: EvidenceTable) -> None:
    for name in COLUMNS:
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=2e-4, atol=1e-6)
    assert a.verdict.tolist() == b.verdict.tolist()


def test_known_effects_come_back_with_their_verdicts():
    table = _assess(*random_case(0, strata=300, effects=EFFECTS))
    assert table.verdict[:4].tolist() == ["supported"] * 4
    assert (np.sign(table.posterior_mean[:4]) == np.sign(EFFECTS[:4])).all()
    assert (table.p_sign[:4] > 0.99).all()
    assert table.joint == pytest.approx(EFFECTS, abs=0.1)
    assert [table.names[i] for i in table.order[:2]] in (["d0", "d1"], ["d1", "d0"])


def test_a_row_says_why():
    row = _assess(*random_case(0, strata=300, effects=EFFECTS)).row(0)
    assert (row.decision, row.objective, row.verdict, row.as_of) == ("d0", "click", "supported", LATE)
    assert row.reason.startswith("effect +0.4")
    assert f"{row.strata} strata, {row.controls} control items" in row.reason
    assert row.low < row.effect < row.high


def test_a_tight_interval_around_zero_is_null():
    n = 2 * 400
    items = make_items(np.repeat(np.arange(400), 2).tolist(), [10**6] * n, [20_000] * n)
    table = _assess(items, make_design(np.tile([[1.0], [0.0]], (400, 1))))
    assert table.verdict.tolist() == ["null"]
    assert table.row(0).reason.startswith("effect +0.000 [-0.0")


def test_thin_evidence_is_insufficient_and_says_so():
    thin = make_items([0, 0, 1, 1], [100] * 4, [9, 1, 8, 2])
    table = _assess(thin, make_design([[1, 1], [0, 1]] * 2, ("hook=question", "always")))
    assert table.verdict.tolist() == ["insufficient"] * 2
    assert table.row(0).reason.startswith("too few strata or controls: effect")
    assert table.row(1).reason == "too few controls: 0 strata, 0 control items"
    assert table.posterior_mean.tolist() == [0, 0]
    wide = _assess(*random_case(0, strata=12, decisions=3))
    assert wide.row(0).reason.startswith("interval too wide")


def test_a_split_explains_its_own_counterexample():
    rng = np.random.default_rng(0)
    place = ["web", "push"] * 60
    beta = np.array([[0.4 if level == "web" else -0.3, 0.0] for level in place]).ravel()
    items = make_items(
        np.repeat(np.arange(120), 2).tolist(),
        [1000] * 240,
        rng.poisson(60 * np.exp(beta)).tolist(),
        contexts={"place": [level for level in place for _ in range(2)]},
    )
    table = _assess(items, make_design(np.tile([[1.0], [0.0]], (120, 1))))
    row = table.row(0)
    assert row.verdict == "conditional"
    assert str(row.split) == "place = web"
    assert "where place = web" in row.reason
    assert table.splits["d0"].fails.high < 0


def test_a_stance_reads_the_table_from_its_own_side():
    assert verdict_for(1, "supported", 0.2) == "supported"
    assert verdict_for(-1, "supported", 0.2) == "contradicted"
    assert verdict_for(-1, "supported", -0.2) == "supported"
    assert verdict_for(-1, "null", 0.01) == "null"


def test_nothing_from_after_the_round_is_seen():
    items, design = random_case(1, strata=100, effects=EFFECTS)
    at = datetime(2024, 2, 20, tzinfo=UTC)
    known = np.flatnonzero(items.available_at <= np.datetime64(at.replace(tzinfo=None)))
    assert 0 < len(known) < len(items)
    before = _assess(items.take(known), Design(names=design.names, matrix=design.matrix[known]), at)
    wild = items.engagements["click"].copy()
    wild[items.available_at > np.datetime64(at.replace(tzinfo=None))] = 9
    _same(before, _assess(replace(items, engagements={"click": wild}), design, at))
    early = _assess(items, design, datetime(2023, 1, 1, tzinfo=UTC))
    assert set(early.verdict) == {"insufficient"}
    assert not early.joint.any()
    assert before.strata.sum() < _assess(items, design, at + timedelta(days=30)).strata.sum()


def test_outcomes_shuffled_inside_strata_leave_nothing():
    items, design = random_case(2, strata=300, decisions=40, effects=np.resize([0.3, -0.3, 0, 0], 40))
    assert (_assess(items, design).p_sign >= 0.9).sum() >= 20
    admitted = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = np.arange(len(items))
        rows[np.argsort(items.strata, kind="stable")] = np.lexsort((rng.random(len(items)), items.strata))
        shuffled = replace(
            items, exposures=items.exposures[rows], engagements={"click": items.engagements["click"][rows]}
        )
        admitted.append(int((_assess(shuffled, design).p_sign >= 0.9).sum()))
    assert np.mean(admitted) < 1
    assert sum(n > 0 for n in admitted) <= 5


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_order_and_irrelevant_strata_change_nothing_and_sides_mirror(seed: int):
    items, design = random_case(seed, strata=20, decisions=4, effects=EFFECTS[:4])
    base = _assess(items, design)
    rows = np.random.default_rng(seed).permutation(len(items))
    _same(base, _assess(items.take(rows), Design(names=design.names, matrix=design.matrix[rows])))
    extra = np.append(np.arange(len(items)), [0, 1, 2])
    padded = items.take(extra)
    padded.strata[-3:] = [1000, 1001, 1001]
    padded.engagements["click"][-2:] = 0
    _same(base, _assess(padded, Design(names=design.names, matrix=design.matrix[extra])))
    mirrored = _assess(items, make_design(1 - design.matrix.toarray()))
    np.testing.assert_allclose(base.effect, -mirrored.effect, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(base.low, -mirrored.high, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(base.joint, -mirrored.joint, rtol=1e-3, atol=1e-6)
