"""Cards, ids, hashes and token counts."""

import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterwit.model import Card, Edit, Provenance, content_hash, count_tokens, fold, new_id, normalised

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def card(guidance: str = "Ask a question.", **changes: object) -> Card:
    values: dict[str, object] = {
        "id": "c1",
        "scope": "a/b",
        "key": "push",
        "guidance": guidance,
        "provenance": Provenance(operator="add"),
        "created_at": NOW,
        "valid_from": NOW,
    }
    return Card(**(values | changes))  # type: ignore[arg-type]


def test_ids_are_uuid7_and_sort_by_time() -> None:
    import time

    first = new_id()
    time.sleep(0.002)
    second = new_id()
    assert first < second
    assert first[14] == "7"
    assert first[19] in "89ab"


def test_hash_parts_do_not_run_together() -> None:
    assert content_hash("ab", "c") != content_hash("a", "bc")


@given(st.text())
def test_normalising_is_idempotent_and_blind_to_composition(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)
    assert normalised(unicodedata.normalize("NFD", text)) == normalised(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a word", 2), ("questions", 2), ("12,500", 3), ("半价电影", 4), ("Où ?", 2)]
)
def test_token_estimate_by_hand(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


def test_content_hash_ignores_numbers_and_composition() -> None:
    assert card("Café").content_hash == card(unicodedata.normalize("NFD", "café"), effect=0.3, version=7).content_hash
    assert card().content_hash != card(scope="a/c").content_hash


def test_fold_keeps_the_latest_version() -> None:
    first = card()
    second = first.changed(guidance="Ask two questions.")
    edits = [Edit(id="1", operator="add", writes=(first,)), Edit(id="2", operator="update", writes=(second,))]
    assert fold(edits) == {"c1": second}
    assert second.version == 2
