"""The strictly-future law, the initial memory, capacity and determinism of replays."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest

from afterwit.credit.items import Items
from afterwit.errors import LeakageError, UsageError
from afterwit.evaluate.policies import POLICIES, Known, Policy, Tide, make
from afterwit.evaluate.replay import ItemStream, Replayed, refuse_known, replay, study, utc, weekly
from afterwit.evaluate.tasks import Shown, bank_scores
from afterwit.model import Card, fold
from evaluate_cases import START, make_extractor, make_setting, make_stream

DAY = timedelta(days=1)
ITEMS, TASKS = make_stream()
FREEZE = START + 160 * DAY


def run(
    capacity: int = 5, seed: int = 13, policies: tuple[str, ...] = tuple(POLICIES)
) -> tuple[Replayed, tuple[Policy, ...]]:
    setting = make_setting(capacity=capacity, seed=seed)
    made = make(policies, setting)
    rounds = weekly(START, FREEZE)
    found = replay(ItemStream(items=ITEMS), TASKS, made, rounds=rounds, extractor=make_extractor(), setting=setting)
    return found, made


@pytest.fixture(scope="module")
def replayed() -> tuple[Replayed, tuple[Policy, ...]]:
    return run()


def test_rounds_are_weekly_and_end_at_the_freeze() -> None:
    assert weekly(START, START + 15 * DAY) == (START + 7 * DAY, START + 14 * DAY, START + 15 * DAY)
    assert weekly(START, START + 14 * DAY) == (START + 7 * DAY, START + 14 * DAY)
    assert weekly(START, START + 3 * DAY) == (START + 3 * DAY,)


class Cheat(ItemStream):
    """A stream that lets one outcome through a second too early."""

    def known(self, as_of: datetime) -> Items:
        return self.items.take(self.items.available_at <= np.datetime64(as_of.replace(tzinfo=None), "us") + 1_000_000)


def test_learning_from_an_outcome_that_was_not_available_is_refused_by_name() -> None:
    at = utc(ITEMS.available_at[40]) - timedelta(seconds=1)
    offender = ITEMS.ids[np.flatnonzero(ITEMS.available_at == ITEMS.available_at[40])[0]]
    with pytest.raises(LeakageError, match=f"item {offender} is available at .* after the update"):
        study(Cheat(items=ITEMS), at, make_extractor(), objective="click")
    assert len(study(ItemStream(items=ITEMS), at, make_extractor(), objective="click").items) == 40


def test_a_task_created_before_the_update_cannot_judge_it() -> None:
    at = utc(TASKS.created_at[3]) + timedelta(seconds=1)
    with pytest.raises(LeakageError, match=rf"task {TASKS.names[0]} .* was created before the update"):
        refuse_known(TASKS, at, ITEMS.take(np.zeros(len(ITEMS), dtype=bool)))


def test_a_task_whose_outcome_was_available_to_the_update_cannot_judge_it() -> None:
    early = replace(TASKS, available_at=np.where(np.arange(len(TASKS)) == 7, TASKS.created_at[0], TASKS.available_at))
    with pytest.raises(LeakageError, match=rf"task {TASKS.names[7]} .* had its outcome available"):
        refuse_known(early, utc(TASKS.created_at[0]), ITEMS.take(np.zeros(len(ITEMS), dtype=bool)))


def test_a_task_that_was_learned_from_cannot_judge() -> None:
    learned = replace(ITEMS.take(np.arange(5)), available_at=np.full(5, np.datetime64("2020-01-01", "us")))
    with pytest.raises(LeakageError, match=rf"task {TASKS.names[0]} .* among what the update learned from"):
        refuse_known(TASKS, START, learned)


def test_every_judged_task_came_after_its_round_and_before_the_next(
    replayed: tuple[Replayed, tuple[Policy, ...]],
) -> None:
    found, _ = replayed
    times = np.array([np.datetime64(at.replace(tzinfo=None), "us") for at in found.rounds])
    judged = found.window >= 0
    assert judged.mean() > 0.6
    windows = found.window[judged]
    assert np.all(TASKS.created_at[judged] >= times[windows])
    assert np.all(TASKS.created_at[judged] < times[windows + 1])
    assert np.all(found.window < len(found.rounds) - 1)
    warm = np.sort(TASKS.created_at)[int(0.2 * len(TASKS))]
    assert np.all(~judged[TASKS.created_at < warm])
    for utilities in found.utilities.values():
        assert np.array_equal(np.isfinite(utilities), judged)


def test_what_an_update_learns_does_not_depend_on_what_comes_later() -> None:
    """Outcomes that are not available yet are turned upside down: nothing that was learned changes."""
    at = START + 70 * DAY
    late = ITEMS.available_at > np.datetime64(at.replace(tzinfo=None), "us")
    clicks = np.where(late, 3000 - ITEMS.engagements["click"], ITEMS.engagements["click"])
    other = replace(ITEMS, engagements={"click": clicks})
    banks = []
    for items in (ITEMS, other):
        setting = make_setting()
        made = make(("tide", "full_history"), setting)
        rounds = weekly(START, at)
        replay(ItemStream(items=items), TASKS, made, rounds=rounds, extractor=make_extractor(), setting=setting)
        banks.append([policy.cards() for policy in made])
    assert banks[0] == banks[1]
    assert banks[0][0]


def test_bounded_policies_never_exceed_capacity_in_any_round(replayed: tuple[Replayed, tuple[Policy, ...]]) -> None:
    found, made = replayed
    for policy in made:
        most = max(stage.cards for stage in found.stages[policy.name])
        assert most <= 5 if policy.bounded else most > 5, policy.name


def test_none_gains_exactly_nothing_and_credit_finds_the_word_that_works(
    replayed: tuple[Replayed, tuple[Policy, ...]],
) -> None:
    found, made = replayed
    judged = found.window >= 0
    assert np.all(found.utilities["none"][judged] == 0.0)
    assert np.mean(found.utilities["tide"][judged]) > 0.1
    assert "word=magic" in {card.stance.decision for card in _policy(made, "tide").cards() if card.stance}
    assert all(card.status == "active" for card in _policy(made, "tide:active_only").cards())


def test_the_initial_memory_is_one_for_all_and_frozen_keeps_it(replayed: tuple[Replayed, tuple[Policy, ...]]) -> None:
    _, made = replayed
    tide = _policy(made, "tide")
    assert isinstance(tide, Tide)
    assert tide.rounds[0].note == "initial memory"
    initial = {card.id: card.trial for card in fold(tide.rounds[0].edits).values()}
    assert initial == {card.id: card.trial for card in _policy(made, "frozen").cards()}
    assert len(initial) == 5
    assert set(initial) <= {card.id for card in _policy(made, "append_only").cards()}


def test_append_only_never_changes_a_card() -> None:
    setting = make_setting()
    policy = make(("append_only",), setting)[0]
    seen: dict[str, Card] = {}
    extractor = make_extractor()
    for week in range(4, 20, 3):
        policy.update(study(ItemStream(items=ITEMS), START + 7 * week * DAY, extractor, objective="click"))
        now = {card.id: card for card in policy.cards()}
        assert all(now[name] == card for name, card in seen.items())
        seen = now
    assert seen


def test_outcome_only_values_decisions_by_raw_outcomes() -> None:
    known = study(ItemStream(items=ITEMS), FREEZE, make_extractor(), objective="click")
    policy = make(("outcome_only",), make_setting(capacity=3))[0]
    policy.update(known)
    clicks, shown = ITEMS.engagements["click"], ITEMS.exposures
    expected = {}
    for name in known.design.names:
        has = np.array([name in make_extractor().shown(text) for text in ITEMS.texts])
        raw = (clicks[has].sum() + 0.5) / (shown[has].sum() + 1)
        expected[name] = np.log(raw) - np.log(clicks.sum() / shown.sum())
    best = sorted(expected, key=lambda name: -abs(expected[name]))[:3]
    found = {card.stance.decision: card.effect for card in policy.cards() if card.stance}
    assert found == pytest.approx({name: expected[name] for name in best})


def test_full_history_holds_every_joint_effect(replayed: tuple[Replayed, tuple[Policy, ...]]) -> None:
    found, made = replayed
    table = found.known.evidence
    cards = {card.stance.decision: card for card in _policy(made, "full_history").cards() if card.stance}
    assert {name: card.effect for name, card in cards.items()} == {
        name: effect for name, effect in zip(table.names, table.joint, strict=True) if effect
    }


def test_a_seed_fixes_everything_and_another_changes_what_chance_replaces() -> None:
    names = ("random_replacement", "tide")
    first, second, other = (run(2, seed, names)[1] for seed in (1, 1, 2))
    assert [policy.cards() for policy in first] == [policy.cards() for policy in second]
    assert _policy(first, "random_replacement").cards() != _policy(other, "random_replacement").cards()
    assert _policy(first, "tide").cards() == _policy(other, "tide").cards()


def test_bank_scores_agree_with_the_chooser_one_text_at_a_time(replayed: tuple[Replayed, tuple[Policy, ...]]) -> None:
    from afterwit.generate.choose import scores

    extractor = make_extractor()
    shown = Shown.of(extractor.degrees(text) for text in TASKS.texts)
    for policy in replayed[1]:
        cards = policy.cards()
        found = bank_scores(cards, shown, {})
        assert found[:40] == pytest.approx(scores(list(TASKS.texts[:40]), cards, extractor.degrees))


def test_an_unknown_policy_is_named() -> None:
    with pytest.raises(UsageError, match="no policy 'best'"):
        make(("best",), make_setting())


def _policy(made: tuple[Policy, ...], name: str) -> Policy:
    return next(policy for policy in made if policy.name == name)


def test_known_says_when_it_is_final() -> None:
    seen: list[Known] = []

    class Watching:
        name, bounded = "watching", True

        def start(self, cards: tuple[Card, ...], known: Known) -> None:
            seen.append(known)

        def update(self, known: Known) -> None:
            seen.append(known)

        def cards(self) -> tuple[Card, ...]:
            return ()

    rounds = weekly(START, START + 60 * DAY)
    replay(
        ItemStream(items=ITEMS), TASKS, (Watching(),), rounds=rounds, extractor=make_extractor(), setting=make_setting()
    )
    assert [known.final for known in seen[-2:]] == [False, True]
    assert seen[-1].as_of == rounds[-1]
