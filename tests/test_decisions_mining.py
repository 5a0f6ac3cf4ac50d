"""Candidate decisions in text of any script."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterwit.decisions.mining import MINED, description_of, mined, tokens_of


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Don’t miss l'été!", ["don't", "miss", "l'été", "!"]),
        ("e\u0301te\u0301 ÉTÉ", ["été", "été"]),
        ("STRASSE straße", ["strasse", "strasse"]),
        ("人工知能", ["人", "工", "知", "能"]),
        ("ภาษาไทย", ["ภ", "า", "ษ", "า", "ไ", "ท", "ย"]),
        ("ກິນເຂົ້າ", ["ກິ", "ນ", "ເ", "ຂົ້", "າ"]),
        ("ខ្មែរ", ["ខ្", "មែ", "រ"]),
        ("မြန်မာ", ["မြ", "န်", "မာ"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("كِتابٌ جديد", ["كِتابٌ", "جديد"]),
        ("می‌خواهم", ["می\u200cخواهم"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("𠮷野家", ["𠮷", "野", "家"]),
        ("👩‍💻 👍🏽 🇫🇷🇩🇪", ["👩‍💻", "👍🏽", "🇫🇷", "🇩🇪"]),
        ("❤️ ❤", ["❤", "❤"]),
        ("snake_case 3,000", ["snake", "case", "3", ",", "000"]),
        ("", []),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    assert tokens_of(text) == tokens


def test_words_pairs_stems_and_lengths_of_one_text() -> None:
    assert mined("This video is shocking!") == {
        *("word=this", "word=video", "word=is", "word=shocking", "word=!"),
        *("pair=this+video", "pair=video+is", "pair=is+shocking", "pair=shocking+!"),
        "stem=shock",
    }
    assert {key for key in mined("a " * 9) if key.startswith("length=")} == {"length=5+", "length=7+", "length=9+"}


def test_scripts_without_spaces_give_characters_and_bigrams() -> None:
    assert mined("人工知") == {"word=人", "word=工", "word=知", "pair=人+工", "pair=工+知"}


def test_emoji_are_words() -> None:
    assert mined("free 🎬") == {"word=free", "word=🎬", "pair=free+🎬"}


@given(st.text(max_size=60))
def test_composition_and_case_make_no_difference(text: str) -> None:
    assert mined(text) == mined(unicodedata.normalize("NFD", text)) == mined(unicodedata.normalize("NFC", text))
    assert {key.partition("=")[0] for key in mined(text)} <= MINED


@given(st.text(max_size=60))
def test_nothing_visible_is_lost(text: str) -> None:
    """Every letter, digit and sign of the text is in some token."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    visible = [c for c in folded if unicodedata.category(c)[0] in "LNSM" and c not in "\ufe0e\ufe0f’ʼ"]
    assert set(visible) <= set("".join(tokens_of(text)))


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("word=free", "“free”"),
        ("pair=this+video", "“this video”"),
        ("pair=++1", "“+ 1”"),
        ("stem=shock", "words beginning with “shock”"),
        ("length=11+", "11 words or more"),
        ("hook=benefit first", "benefit first as hook"),
    ],
)
def test_descriptions(key: str, words: str) -> None:
    assert description_of(key) == words
