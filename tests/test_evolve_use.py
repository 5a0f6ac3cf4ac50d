"""What use shows: words that replay finds behind a decision get its stance, words behind none leave, people's stay."""

from dataclasses import replace

import pytest

from afterwit.evolve.draft import RoundDraft
from afterwit.evolve.operators.retire import evict
from afterwit.evolve.use import settle_use
from afterwit.model import Card, Credit, Provenance
from evolve_cases import claim

WORDS = replace(claim("x", id="words"), stance=None, guidance="Open with a question.")
OTHER = claim("y", id="other")


def credit(
    card: Card, episode: int, decision: str = "hook=question", weight: float = 1.0, kind: str = "sole"
) -> Credit:
    return Credit(
        id=f"{card.id} {episode} {decision}",
        episode_id=str(episode),
        card_id=card.id,
        decision=decision,
        weight=weight,
        kind=kind,  # type: ignore[arg-type]
        reason="",
    )


def settled(card: Card, *credits: Credit, **changes: object) -> RoundDraft:
    draft = RoundDraft(round_id="r", live={c.id: c for c in (card, OTHER)}, **changes)  # type: ignore[arg-type]
    settle_use(draft, credits)
    return draft


def test_three_episodes_name_the_stance() -> None:
    draft = settled(WORDS, *(credit(WORDS, k) for k in range(3)))
    named = draft.live["words"]
    assert str(named.stance) == "prefer hook=question"
    assert named.provenance.parents == ("words",), "no edit without provenance"
    assert named.guidance == WORDS.guidance
    assert settled(WORDS, *(credit(WORDS, k) for k in range(2))).edits == []
    against = settled(WORDS, *(credit(WORDS, k, "not:hook=question") for k in range(3))).live["words"].stance
    assert str(against) == "avoid hook=question"


def test_a_card_behind_several_decisions_is_given_none() -> None:
    """Three of five parts are less than four fifths; four of five are not."""
    three = [credit(WORDS, k) for k in range(3)]
    mixed = [*three, *(credit(WORDS, k, "tone=plain") for k in (3, 4))]
    assert settled(WORDS, *mixed).edits == []
    most = [*three, credit(WORDS, 3), credit(WORDS, 4, "tone=plain")]
    assert settled(WORDS, *most).live["words"].stance is not None


@pytest.mark.parametrize(("episodes", "leaves"), [(19, False), (20, True)])
def test_words_behind_no_decision_leave_after_twenty_episodes(episodes: int, leaves: bool) -> None:
    told = [credit(OTHER, k) for k in range(episodes)]
    idle = [credit(WORDS, k, weight=0.0, kind="none") for k in range(episodes)]
    assert ("words" not in settled(WORDS, *told, *idle).live) == leaves


def test_episodes_that_could_not_tell_do_not_count() -> None:
    """No card was found responsible, or the replay did not reproduce the episode."""
    idle = [credit(WORDS, k, weight=0.0, kind="none") for k in range(30)]
    assert settled(WORDS, *idle).edits == []
    unstable = [credit(WORDS, k, weight=0.0, kind="unstable") for k in range(30)]
    assert settled(WORDS, *unstable, *(credit(OTHER, k) for k in range(30))).edits == []


def test_what_a_person_wrote_stays_and_is_told_of() -> None:
    mine = replace(WORDS, provenance=Provenance(operator="add", trust="user"))
    told = [credit(OTHER, k) for k in range(20)]
    draft = settled(mine, *told, *(credit(mine, k, weight=0.0, kind="none") for k in range(20)))
    assert (draft.edits, draft.live["words"]) == ([], mine)
    assert "behind no decision of any: consider deleting it" in draft.refused[0].reason
    assert settled(mine, *(credit(mine, k) for k in range(5))).live["words"].stance is None


def test_an_operator_left_out_changes_nothing() -> None:
    draft = RoundDraft(round_id="r", live={"other": OTHER}, without=frozenset({"evict"}))
    assert not draft.apply(evict("e", OTHER, reason="why", round_id="r"))
    assert (draft.edits, draft.live) == ([], {"other": OTHER})
