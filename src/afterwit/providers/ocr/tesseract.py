"""Tesseract's command line, where it is installed: a fallback, and for scripts that rapidocr's models do not have."""

import csv
import io
import shutil
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.util import find_spec

from afterwit.errors import ProviderError, UsageError
from afterwit.model.page import Box, TextLine, Tile
from afterwit.providers.ocr.lines import decoded, strips
from afterwit.providers.ocr.stack import SCALE, stacked

_LEAST = 30.0
"""Tesseract's confidence, of a hundred, under which a word is noise."""

_GAP = 2.0
"""Times its height that words of one line may lie apart; beyond it another column begins."""


_ENVIRONMENT = {"OMP_THREAD_LIMIT": "1", "PATH": "/usr/local/bin:/usr/bin:/bin"}

LANGUAGES: Mapping[str, tuple[str, ...]] = {
    "Latin": ("eng", "deu", "fra", "spa"),
    "Cyrillic": ("rus", "ukr", "bul"),
    "Greek": ("ell",),
    "Arabic": ("ara", "fas"),
    "Hebrew": ("heb",),
    "Hangul": ("kor",),
    "Han": ("chi_tra", "chi_sim"),
    "Kana": ("jpn",),
    "Thai": ("tha",),
    "Devanagari": ("hin",),
    "Armenian": ("hye",),
    "Georgian": ("kat",),
    "Bengali": ("ben",),
    "Tamil": ("tam",),
    "Telugu": ("tel",),
}
"""Script → the languages that read it here, the first needed, the others of help."""

_JOINED = frozenset({"ara", "fas", "urd", "hin", "mar", "ben"})
"""Languages whose letters hang together by a line."""

_KNOWN = frozenset(language for languages in LANGUAGES.values() for language in languages)


def installed() -> frozenset[str]:
    """Languages whose data this machine's Tesseract has; none where it is not installed."""
    found = shutil.which("tesseract")
    if found is None:
        return frozenset()
    try:
        ran = subprocess.run(
            [found, "--list-langs"], capture_output=True, check=False, timeout=20, env=_ENVIRONMENT, text=True
        )
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    return frozenset(ran.stdout.split("\n")[1:]) - {"", "osd"}


def package(language: str) -> str:
    """Debian's, with the data of a language."""
    return f"tesseract-ocr-{language.replace('_', '-')}"


def for_script(script: str, languages: Collection[str]) -> "TesseractOcr | None":
    """With those of the installed languages that read it, and English for names and units; None without any."""
    wanted = [language for language in LANGUAGES.get(script, ()) if language in languages]
    english = ["eng"] if "eng" in languages and "eng" not in wanted else []
    return TesseractOcr(languages="+".join((*wanted, *english))) if wanted else None


class TesseractOcr:
    """languages: as Tesseract names them, such as ``eng+deu+ara``; their data are packages of their own
    (``apt-get install tesseract-ocr-deu``). It sees what is struck through where rapidocr's
    packages are there to find the lines."""

    def __init__(self, *, languages: str = "eng", executable: str | None = None, deadline: float = 120.0) -> None:
        """Raises UsageError where it is not installed."""
        found = executable or shutil.which("tesseract")
        if found is None:
            raise UsageError("tesseract is not installed: apt-get install tesseract-ocr")
        self._executable, self._languages, self._deadline = found, languages, deadline
        self._stacks = find_spec("cv2") is not None
        self.name = f"tesseract:{languages}" + (":lines" if self._stacks else "")

    def knows(self, script: str) -> bool:
        """By its languages; of those that are in no table here it is believed to."""
        mine = set(self._languages.split("+"))
        return bool(mine & set(LANGUAGES.get(script, ()))) or not mine & _KNOWN

    def __call__(self, tile: Tile) -> Sequence[TextLine]:
        """Line by line where rapidocr's packages find the lines; else as Tesseract itself lays out what it sees."""
        image = decoded(tile.png) if self._stacks else None
        if image is None or image.size <= 3:  # what is no picture Tesseract says itself
            return lines(self._run(tile.png, "11", 96))
        found = strips(image, strikes=not set(self._languages.split("+")) & _JOINED)
        if not found:
            return ()
        sheet = stacked(image, found)
        words: dict[int, list[tuple[str, float]]] = {}
        for row in _rows(self._run(sheet.png, "6", round(96 * SCALE))):
            middle = float(row["top"]) + float(row["height"]) / 2
            words.setdefault(sheet.place(middle), []).append((row["text"].strip(), float(row["conf"]) / 100))
        return tuple(
            TextLine(
                text=" ".join(text for text, _ in words[place]),
                box=strip.box,
                confidence=sum(score for _, score in words[place]) / len(words[place]),
                struck=strip.struck,
                band=strip.band,
            )
            for place, strip in enumerate(found)
            if place in words
        )

    def _run(self, png: bytes, layout: str, dpi: int) -> str:
        """Tesseract's TSV. layout: its page segmentation mode."""
        command = [
            self._executable,
            "stdin",
            "stdout",
            "-l",
            self._languages,
            "--psm",
            layout,
            "--dpi",
            str(dpi),
            "tsv",
        ]
        try:
            ran = subprocess.run(
                command, input=png, capture_output=True, check=False, timeout=self._deadline, env=_ENVIRONMENT
            )
        except subprocess.TimeoutExpired:
            raise ProviderError(f"{self.name} took more than {self._deadline:g} s for one tile") from None
        except OSError as error:
            raise ProviderError(f"{self.name} cannot be run: {error.strerror or error}") from None
        if ran.returncode:
            fault = " ".join(ran.stderr.decode("utf-8", "replace").split())[:200]
            raise ProviderError(f"{self.name} failed: {fault}")
        return ran.stdout.decode("utf-8", "replace")


def _rows(table: str) -> Iterator[dict[str, str]]:
    """Words that are no noise."""
    for row in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        if (row.get("text") or "").strip() and float(row["conf"]) >= _LEAST:
            yield row


def lines(table: str) -> tuple[TextLine, ...]:
    """Words of Tesseract's TSV, put together where they follow one another on a line."""
    found: list[TextLine] = []
    place: tuple[str, ...] | None = None
    for row in _rows(table):
        text, box = row["text"].strip(), _box(row)
        here = (row["block_num"], row["par_num"], row["line_num"])
        if found and here == place and box.left - found[-1].box.right <= _GAP * box.height:
            found[-1] = _together(found[-1], text, box, float(row["conf"]) / 100)
        else:
            found.append(TextLine(text=text, box=box, confidence=float(row["conf"]) / 100))
        place = here
    return tuple(found)


def _together(line: TextLine, text: str, box: Box, confidence: float) -> TextLine:
    left, top = min(line.box.left, box.left), min(line.box.top, box.top)
    right, bottom = max(line.box.right, box.right), max(line.box.bottom, box.bottom)
    return TextLine(
        text=f"{line.text} {text}",
        box=Box(left=left, top=top, width=right - left, height=bottom - top),
        confidence=min(line.confidence, confidence),
    )


def _box(row: Mapping[str, str]) -> Box:
    left, top, width, height = (float(row[name]) for name in ("left", "top", "width", "height"))
    return Box(left=left, top=top, width=width, height=height)
