"""Vocabulary files: named decisions and their patterns."""

from pathlib import Path

import pytest

from afterwit.decisions.vocabulary import Vocabulary
from afterwit.errors import InputError

ENTRY = '[[decision]]\nname = "hook"\nvalue = "question"\npattern = \'\\?$\'\ndescription = "a question"\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_bundled_vocabulary_loads_and_every_pattern_can_be_found_and_missed() -> None:
    headlines = Vocabulary.load("headlines")
    assert len(headlines.entries) >= 30
    assert headlines.shown("") == frozenset()
    for entry in headlines.entries:
        assert headlines.describe(entry.key) == entry.description
        assert len(entry.description) <= 120


@pytest.mark.parametrize(
    ("headline", "key"),
    [
        ("Would you open this?", "hook=question"),
        ("9 reasons to stay", "has=number"),
        ("You will not believe it", "has=negation"),
        ("Wait for it...", "has=ellipsis"),
        ("This is what happened", "hook=this"),
    ],
)
def test_the_bundled_vocabulary_on_headlines(headline: str, key: str) -> None:
    assert key in Vocabulary.load("headlines").shown(headline)


def test_a_file_of_ones_own_in_any_script(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        ENTRY
        + '[[decision]]\nname = "形式"\nvalue = "疑问"\npattern = "吗|？$"\ndescription = "疑问句"\n'
        + '[[decision]]\nname = "saison"\nvalue = "été"\npattern = "\\\\be\u0301te\u0301\\\\b"\ndescription = "été"\n',
    )
    vocabulary = Vocabulary.load(path)
    assert vocabulary.shown("你好吗") == {"形式=疑问"}
    assert vocabulary.shown("l'e\u0301te\u0301?") == vocabulary.shown("l'été?") == {"saison=été", "hook=question"}
    assert vocabulary.describe("形式=疑问") == "疑问句"
    assert vocabulary.describe("no=such") is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (ENTRY + ENTRY, "hook=question stands there 2 times"),
        (ENTRY.replace("\\?$", "(("), r"decision 1 \(hook=question\): the pattern does not compile"),
        (ENTRY.replace('value = "question"\n', ""), "decision 1 .*value is missing"),
        (ENTRY.replace('"question"', "3"), "decision 1 .*value is missing or is no text"),
        (ENTRY.replace('"question"', '" "'), "decision 1 .*value is missing or is no text"),
        (ENTRY + "weight = 1\n", "decision 1 .*unknown key 'weight'"),
        (ENTRY.replace('"hook"', '"not:hook"'), "no '=' and no ':'"),
        ("[[decision\n", "mine.toml: "),
        ("", "holds no .*decision"),
        ("decision = 3", "holds no .*decision"),
        ("decision = [3]", "holds no .*decision"),
    ],
)
def test_a_bad_file_names_file_and_entry_in_one_line(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as raised:
        Vocabulary.load(write(tmp_path, text))
    assert "mine.toml" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_bytes_that_are_no_text_and_files_that_are_not_there(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"mine\.toml"):
        Vocabulary.load(path)
    for missing in (tmp_path, tmp_path / "none.toml", "no-such-name"):
        with pytest.raises(InputError, match="there is no vocabulary"):
            Vocabulary.load(missing)
