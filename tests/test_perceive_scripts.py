"""Which script a page is in, and who can read it."""

import pytest

from afterwit.errors import UsageError
from afterwit.model.page import Box, Screenshot, Tile
from afterwit.perceive.look import script_of, see
from afterwit.perceive.ports import ScriptedOcr
from afterwit.perceive.scripts import language, script
from afterwit.providers.ocr.tesseract import LANGUAGES, TesseractOcr, package


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Chaleira de aço, 1,7 litros", "Latin"),
        ("Чайник электрический Aster K-200 Bluetooth", "Cyrillic"),
        ("غلاية ماء كهربائية من Aster", "Arabic"),
        ("קומקום חשמלי מנירוסטה", "Hebrew"),
        ("전기 주전자 스테인리스 스틸", "Hangul"),
        ("電気ケトル ステンレス 1.7リットル", "Kana"),
        ("不鏽鋼電熱水壺 Aster", "Han"),
        ("กาต้มน้ำไฟฟ้า", "Thai"),
        ("Ηλεκτρικός βραστήρας", "Greek"),
        ("विद्युत केतली इस्पात", "Devanagari"),
        ("😀 12,50 €", "Latin"),
        ("", "Latin"),
    ],
)
def test_a_text_has_one_script(text: str, name: str) -> None:
    assert script([text]) == name


def test_names_in_latin_do_not_make_a_page_latin() -> None:
    assert script(["Чайник " * 10, "Samsung Galaxy " * 10]) == "Cyrillic"


def test_a_page_without_text_is_in_the_script_of_its_language() -> None:
    assert language('<!doctype html><html class="x" lang="ko-KR">') == "ko"
    assert script_of('<html lang="ko"><p>12</p></html>') == "Hangul"
    assert script_of('<html lang="ko"><p>A kettle of brushed steel that boils</p></html>') == "Latin"


class Knows(ScriptedOcr):
    def __init__(self, name: str, *scripts: str) -> None:
        super().__init__({})
        self.name = name
        self._scripts = scripts

    def knows(self, script: str) -> bool:
        return script in self._scripts


TILE = Tile(png=b"top", box=Box(left=0, top=0, width=800, height=600))


def test_the_first_reader_that_knows_the_script_reads() -> None:
    shot = Screenshot(tiles=(TILE,), width=800, height=600, html="<p>Чайник электрический из стали</p>")
    latin, russian = Knows("latin", "Latin"), Knows("russian", "Cyrillic")
    see(shot, (latin, russian))
    assert (latin.read, russian.read) == ([], [TILE])


def test_a_script_that_no_reader_knows_is_said_and_not_guessed() -> None:
    shot = Screenshot(tiles=(TILE,), width=800, height=600, html="<p>กาต้มน้ำไฟฟ้า กาต้มน้ำไฟฟ้า</p>")
    latin = Knows("latin", "Latin")
    with pytest.raises(UsageError, match=r"no reader knows Thai script \(asked: latin\).*doctor"):
        see(shot, (latin,))
    assert latin.read == []


def test_tesseract_knows_the_scripts_of_its_languages() -> None:
    thai = TesseractOcr(languages="tha+eng", executable="/bin/true")
    assert thai.knows("Thai")
    assert thai.knows("Latin")
    assert not thai.knows("Hebrew")
    assert TesseractOcr(languages="amh", executable="/bin/true").knows("Ethiopic")
    assert package("chi_tra") == "tesseract-ocr-chi-tra"
    assert {"Hebrew", "Arabic", "Hangul", "Cyrillic", "Greek", "Thai", "Han"} <= LANGUAGES.keys()
