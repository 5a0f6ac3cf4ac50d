"""The controlled world: its truth against its log, what bad cards are, and whole analyses of a small one."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from afterwit.benchmarks.world.agent import Agent, advice
from afterwit.benchmarks.world.evictions import Evictions, evictions, is_noise
from afterwit.benchmarks.world.figures import churns, compared
from afterwit.benchmarks.world.log import START, ends
from afterwit.benchmarks.world.noise import NOISE, Claim, card, moved_claims, planted, true_claims, wrong_claims
from afterwit.benchmarks.world.parameters import Parameters
from afterwit.benchmarks.world.play import responsible
from afterwit.benchmarks.world.requests import Outcome, cited, judged, replayed, requests
from afterwit.benchmarks.world.responsibility import figured
from afterwit.benchmarks.world.rounds import VARIANTS, Stage, Variant
from afterwit.benchmarks.world.season import season
from afterwit.benchmarks.world.shift import recovery, survival
from afterwit.benchmarks.world.truth import Truth, decision, parts
from afterwit.errors import InputError
from afterwit.model import Condition, Stance, Task
from afterwit.store.segments import Segments
from cli_cases import Shell, shell
from world_cases import SMALL, small, stage

__all__ = ["shell", "small", "stage"]


def test_a_wrong_parameter_is_named_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "world.toml"
    path.write_text("[log]\nclick = 2.0\n")
    with pytest.raises(InputError, match=r"world.toml: log.click: .*less than 1"):
        Parameters.load(path)
    path.write_text("[log]\nclicks = 0.1\n")
    with pytest.raises(InputError, match=r"log.clicks: Extra inputs"):
        Parameters.load(path)
    path.write_text("[log")
    with pytest.raises(InputError, match="cannot be read as a world"):
        Parameters.load(path)


def test_a_world_is_what_its_seed_makes_it(small: Parameters) -> None:
    one, same, other = (Truth.make(small, seed) for seed in (1, 1, 2))
    assert (one.effect == same.effect).all()
    assert (one.effect != other.effect).any()
    assert parts(decision(3, 2)) == (3, 2)
    assert one.mix(1).sum() == pytest.approx(1)
    assert one.mix(1)[0] > one.mix(2)[0], "the mix of channels moves at the shift"


def test_a_turned_effect_turns_where_the_truth_says() -> None:
    truth = Truth.make(Parameters.load(), 13)
    name, (field, level) = next(iter(truth.turns.items()))
    slot, value = parts(name)
    inside = np.array([truth.context(i)[field] == level for i in range(len(truth.contexts))])
    base = truth.effect[0, :, slot, value] + truth.parameters.decisions.unfit_cost * truth.unfit[:, slot, value]
    assert np.sign(base[inside][0]) == -np.sign(base[~inside][0])


def test_the_log_bears_the_truth_out(small: Parameters, stage: Stage) -> None:
    """Poisson means by context fit the log: a regression of log conversions on the true rate has slope 1."""
    truth, items = stage.season.truth, stage.season.items[-1]
    sent = {d.id: (i, part) for part in stage.season.sent for i, d in enumerate(part.deliveries)}
    era = np.array([int(at >= np.datetime64(ends(truth, 1).replace(tzinfo=None))) for at in items.first_delivered_at])
    of = [sent[name] for name in items.ids]
    rate = [truth.rate(int(p.contexts[i]), p.chosen[i], int(e)) for (i, p), e in zip(of, era, strict=True)]
    got = np.log((items.engagements["conversion"] + 0.5) / items.exposures)
    fit = stats.linregress(rate, got)
    assert fit.slope == pytest.approx(1, abs=0.12)


def test_what_was_known_grows_and_is_never_of_later(stage: Stage) -> None:
    for place, (early, known) in enumerate(zip(stage.season.immature, stage.season.items, strict=True)):
        end = np.datetime64(ends(stage.season.truth, place).replace(tzinfo=None))
        assert (known.available_at <= end).all()
        assert set(known.ids) <= set(early.ids)
        assert len(early) > len(known), "without temporal credit, what was just sent counts too"


def test_kinds_of_bad_cards_are_bad_in_the_truth() -> None:
    truth = Truth.make(Parameters.load(), 13)
    claims = true_claims(truth, 0)[:12]
    scope, at = "w", START
    good = [(card(c, scope=scope, at=at, name=str(i), words=False), c) for i, c in enumerate(claims)]
    made = planted(truth, 0, NOISE * 3, good, np.random.default_rng(1), scope=scope, at=at, wordy=0.5, name="x")
    assert {one.kind for one in made} == set(NOISE)
    held = [c for c, _ in good]
    for one in made:
        assert is_noise(one.card, held, truth, 0), one.kind
        if one.kind == "contradictory":
            of = next(claim for c, claim in good if c.id == one.of)
            assert advice(one.card) == of.opposite.stance
    assert not any(is_noise(c, [c], truth, 0) for c in held)
    assert all(truth.merit(c.stance, c.when, 0) < 0 for c in (*moved_claims(truth, 0), *wrong_claims(truth, 0)))


def test_fisher_is_the_hypergeometric_tail() -> None:
    found = Evictions(noise_left=9, good_left=1, noise_stayed=3, good_stayed=20)
    assert found.p_value == pytest.approx(stats.hypergeom.sf(8, 33, 12, 10))
    assert (found + found).left == 20


def test_the_agent_follows_the_first_that_prefers_and_what_it_hangs_on_is_known() -> None:
    agent = Agent(slots=4, values=3, absent=0.0, hitch=0.0)
    task = Task(text="t", context={})
    usual = agent.choose(task, ())[0]
    other = next(way for way in agent.menu[:3] if way != f"{usual.slot}={usual.value}")

    def told(stance: Stance, name: str, *, words: bool = False) -> object:
        return card(Claim(stance=stance, when=Condition()), scope="w", at=START, name=name, words=words)

    prefer = told(Stance(decision=other, prefer=True), "a")
    again = told(Stance(decision=other, prefer=True), "b", words=True)
    against = told(Stance(decision=f"{usual.slot}={usual.value}", prefer=False), "c")
    one = agent.choose(task, (prefer, again))[0]  # type: ignore[arg-type]
    assert one.value == other.partition("=")[2]
    assert set(one.behind) == {prefer.id, again.id}  # type: ignore[attr-defined]
    avoided = agent.choose(task, (against,))[0]  # type: ignore[arg-type]
    assert avoided.value != usual.value
    assert avoided.named == f"not:{usual.slot}={usual.value}"
    same = told(Stance(decision=f"{usual.slot}={usual.value}", prefer=True), "d")
    assert agent.choose(task, (same,))[0].behind == (), "what it does anyway hangs on no card"  # type: ignore[arg-type]


def test_utility_lies_between_the_worst_and_the_best_message(stage: Stage) -> None:
    life = stage.live(VARIANTS["frozen"])
    assert ((life.figure("compliance") >= 0) & (life.figure("compliance") <= 1)).all()
    assert life.figure("utility").shape == (3, 4)
    assert churns(life) == [0.0, 0.0, 0.0]
    assert any(responsible(one) for round_ in life.served for one in round_)


def test_an_operator_that_may_not_act_does_not(stage: Stage) -> None:
    whole = stage.live(VARIANTS["tide"])
    assert any(whole.left)
    kept = stage.live(Variant(name="neither", without=frozenset({"evict", "expire"})))
    assert not any(kept.left)
    assert all(len(bank) <= 16 for bank in kept.banks), "a full bank takes nothing where nothing may leave"
    found, share = evictions(whole.banks, whole.left, stage.season.truth)
    assert found.left == sum(map(len, whole.left))
    assert 0 < share < 1


def test_recovery_and_survival_by_hand(stage: Stage) -> None:
    assert recovery(np.array([1.0, 1.0, 0.5, 0.94, 0.95, 1.0]), 3) == 2
    assert recovery(np.array([1.0, 0.5, 0.5]), 2) == 2, "never within the rounds left"
    frozen = stage.live(VARIANTS["frozen"])
    kept, held = survival(frozen, stage.season.truth, 2)
    assert kept == held, "a frozen memory keeps what was stale"
    gone = replace(frozen, banks=(*frozen.banks[:-1], ()))
    assert survival(gone, stage.season.truth, 2) == (0, held)


def test_differences_are_paired(stage: Stage) -> None:
    lives = {name: [stage.live(VARIANTS[name])] for name in ("none", "frozen", "tide")}
    found = compared(lives, under="tide", least=0.6, seed=1)
    gap = found["frozen"]["utility"].value - found["tide"]["utility"].value
    assert found["frozen"]["utility@tide"].value == pytest.approx(gap)
    assert found["tide"]["meg"].value == pytest.approx(found["tide"]["utility"].value - found["none"]["utility"].value)
    assert found["none"]["cards"].value == 0


def test_the_same_seed_gives_the_same_season(small: Parameters, tmp_path: Path) -> None:
    one, two = (season(small, 7, Segments(tmp_path / name), last=0) for name in ("a", "b"))
    assert (one.items[0].exposures == two.items[0].exposures).all()
    assert one.items[0].available_at.max() <= np.datetime64((START + timedelta(days=56)).replace(tzinfo=None))


def test_requests_hold_good_cards_and_one_bad_one_and_credit_lands(stage: Stage) -> None:
    asked = requests(stage.season, stage.desk)
    known, truth = stage.known("all")[0], stage.season.truth
    assert [one.bad.kind for one in asked] == list(NOISE[:4])
    for one in asked:
        assert all(truth.merit(c.stance, c.when, 0) > 0 for c in one.good if c.stance)
        assert one.bad.card.when.holds(truth.context(one.context))
    true = [{(p.episode.id, d, c) for p in one.served for d, c in responsible(p)} for one in asked]
    for one, pairs in zip(asked, true, strict=True):
        credits = replayed(one, stage.desk)
        landed = {(c.episode_id, c.decision, c.card_id) for c in credits if c.weight > 0}
        found = judged(one, stage.season, stage.desk, known, credits)
        assert (found.hits, found.false, found.missed) == (
            len(landed & pairs),
            len(landed - pairs),
            len(pairs - landed),
        )
        loose = {(c.episode_id, c.decision, c.card_id) for c in cited(one, stage.desk)}
        assert landed <= loose, "no credit without a citation"
        nothing = judged(one, stage.season, stage.desk, known, ())
        assert (nothing.hits, nothing.missed) == (0, len(pairs))


def test_figures_of_requests_by_hand() -> None:
    """F1 = 2·4 / (2·4 + 1 + 1) over two requests together, not the mean of each."""
    one = Outcome(kind="stale", hits=3, false=1, missed=0, right=4, cards=4, survived=False, gain=(0.1, 0.3))
    two = Outcome(kind="redundant", hits=1, false=0, missed=1, right=2, cards=4, survived=True, gain=(0.0, 0.0))
    found = figured({"tide": [one, two], "other": [two, two]}, np.zeros(2, dtype=np.int64), seed=1)
    assert found["tide"]["responsibility_f1"].value == pytest.approx(0.8)
    assert found["tide"]["correct_edit"].value == 0.75
    assert found["tide"]["future_meg"].value == pytest.approx(0.1)
    assert (found["tide"]["bad_memory_survival"].value, found["tide"]["bad_memory_survival:stale"].value) == (0.5, 0.0)
    assert found["other"]["correct_edit@tide"].value == pytest.approx(-0.25)


def test_responsibility_runs_from_the_shell(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    asked = ("evaluate", "tide", "--analysis", "responsibility", "--world", path, "--seeds", "2", "--json")
    record = shell(*asked).json
    assert record["counts"]["requests"] == 8
    found = record["policies"]
    assert found["tide"]["responsibility_f1"]["value"] > found["no replay"]["responsibility_f1"]["value"]
    assert found == shell(*asked).json["policies"], "the same seeds give the same record"


@pytest.mark.parametrize("analysis", ["rounds", "ablations", "health", "shift"])
def test_every_analysis_runs_from_the_shell(shell: Shell, tmp_path: Path, analysis: str) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    asked = shell("evaluate", "tide", "--analysis", analysis, "--world", path, "--out", tmp_path / "out", "--json")
    assert asked.code == 0
    record = asked.json
    assert record["benchmark"] == f"tide:{analysis}"
    assert record["policies"]["tide"]["utility"]["n"] == 12
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Step by step" in page
    if analysis == "health":
        assert len(record["curves"]["effective"]["tide"]) == 4, "the initial bank, then one a round"


def test_a_wrong_analysis_or_a_world_without_a_shift_is_refused(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL.replace("round = 2", "round = 0"))
    assert "there is no analysis 'wealth': give responsibility" in shell("evaluate", "tide", "--analysis", "wealth").err
    told = shell("evaluate", "tide", "--analysis", "shift", "--world", path)
    assert (told.code, "the world shifts in round 0" in told.err) == (2, True)
