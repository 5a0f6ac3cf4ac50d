import json
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

from afterwit.benchmarks.responsibility import METHODS, construct, run, score
from afterwit.benchmarks.responsibility.methods import replay
from afterwit.benchmarks.responsibility.motifs import SHARES
from afterwit.model import Task

BASELINES = ["all_cited", "all_recalled", "leave_one_out", "leave_one_out:output", "stance_match"]
NOT_REPLAYABLE = {"overridden", "drifted"}


@pytest.fixture(scope="module", params=[1, 13, 2024])
def record(request):
    return run(episodes=300, seed=request.param)


def test_credit_by_replay_finds_the_responsible_cards(record):
    ours = record.policies["replay"]
    assert ours["f1"].value >= 0.95
    assert ours["f1"].n == 300
    assert ours["weight_sum"].value <= 1 + 1e-12
    assert ours["f1"].low < ours["f1"].value < ours["f1"].high < 1


@pytest.mark.parametrize("name", BASELINES)
def test_simpler_credit_does_not(record, name: str):
    assert record.policies[name]["f1"].value <= 0.8
    assert record.policies[name]["f1"].high < record.policies["replay"]["f1"].low


def test_the_set_is_of_the_size_and_kinds_it_claims():
    cases = construct(episodes=300, seed=13)
    assert len(cases.episodes) == 300
    assert set(cases.motifs.values()) == {motif.__name__ for motif in SHARES}
    assert sum(SHARES.values()) == pytest.approx(1)
    logs = [log for log, _ in cases.episodes]
    assert any(trace.withheld for log in logs for trace in log.recalled)
    assert any([t.rank for t in log.recalled].count(1) == 2 for log in logs)  # Recalled twice: late cards.
    assert any(d.key.startswith("not:") for log in logs for d in log.decisions)
    assert max(len(log.decisions) for log in logs) > 1
    assert construct(episodes=300, seed=13) == cases
    assert construct(episodes=300, seed=14) != cases


def test_the_truth_agrees_with_an_exhaustive_search_of_causes():
    """Over every subset of the cited cards, of any size, without our search: a card is behind a decision iff it
    belongs to a minimal set whose removal takes the decision away."""
    cases = construct(episodes=300, seed=13)
    for log, cards in cases.episodes:
        withheld = {trace.card_id for trace in log.recalled if trace.withheld}
        given = [c for c in cards if c.id not in withheld]
        citing = {c.decision: set(c.cards) for c in log.citations}

        def shows(key: str, removed: set[str], log=log, given=given) -> bool:
            draft = cases.agent(Task(text=log.task), [c for c in given if c.id not in removed])
            return key in {d.key for d in draft.decisions}

        for decision in log.decisions:
            key = decision.key
            believed = {card for episode_id, d, card in cases.truth if (episode_id, d) == (log.id, key)}
            if cases.motifs[log.id, key] in NOT_REPLAYABLE:
                assert not shows(key, set())
                assert (cases.motifs[log.id, key] == "drifted") == bool(believed)
                continue
            assert shows(key, set())
            cited = citing.get(key) or {c.id for c in given if c.stance and c.stance.followed == key}
            minimal: list[set[str]] = []
            for size in range(1, len(cited) + 1):
                for chosen in map(set, combinations(sorted(cited), size)):
                    if not any(found <= chosen for found in minimal) and not shows(key, chosen):
                        minimal.append(chosen)
            assert believed == set().union(*minimal), cases.motifs[log.id, key]


def test_what_our_method_misses_is_what_it_is_known_to_miss():
    cases = construct(episodes=300, seed=13)
    landed = set(replay(cases))
    assert landed <= cases.truth
    missed = {cases.motifs[episode, decision] for episode, decision, _ in cases.truth - landed}
    assert missed == {"four_redundant", "sole_beside_pair", "drifted"}


def test_a_score_worked_by_hand():
    cases = construct(episodes=20, seed=3)
    truth = sorted(cases.truth)
    log = cases.episodes[0][0]
    false = {(log.id, "no=decision", f"card-{n}"): 0.25 for n in range(4)}
    found = score({**dict.fromkeys(truth[2:], 1.0), **false}, cases)
    hits = len(truth) - 2
    assert found["precision"].value == pytest.approx(hits / (hits + 4))
    assert found["recall"].value == pytest.approx(hits / len(truth))
    assert found["f1"].value == pytest.approx(2 * hits / (2 * hits + 4 + 2))
    assert found["f1"].low <= found["f1"].value <= found["f1"].high
    perfect = score(dict.fromkeys(truth, 0.5), cases)
    assert (perfect["f1"].low, perfect["f1"].value, perfect["f1"].high) == (1.0, 1.0, 1.0)
    assert score({}, cases)["f1"].value == 0
    assert score(dict.fromkeys(truth, 0.0), cases)["f1"].value == 0


def test_the_interval_agrees_with_resampled_episodes():
    cases = construct(episodes=60, seed=5)
    weights = METHODS["all_cited"](cases)
    per = []
    for log, _ in cases.episodes:
        landed, truth = ({p for p in places if p[0] == log.id} for places in (weights, cases.truth))
        per.append((len(landed & truth), len(landed - truth), len(truth - landed)))
    rng = np.random.default_rng(0)
    drawn = np.array(per)[rng.integers(0, 60, size=(4000, 60))].sum(axis=1)
    f1 = 2 * drawn[:, 0] / (2 * drawn[:, 0] + drawn[:, 1] + drawn[:, 2])
    found = score(weights, cases)["f1"]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(f1, (0.025, 0.975))), abs=0.01)


def test_the_command_prints_the_evaluation_record():
    command = [sys.executable, "-m", "afterwit.benchmarks.responsibility", "--episodes", "40", "--json"]
    printed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert printed["benchmark"] == "responsibility"
    assert printed["seed"] == 13
    assert set(printed["policies"]) == set(METHODS)
    assert set(printed["policies"]["replay"]["f1"]) == {"value", "low", "high", "n"}
    assert printed["data"]["simulated"].startswith("sha256:")
