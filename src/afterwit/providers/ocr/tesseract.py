"""Tesseract's command line, where it is installed: a fallback, and for scripts that rapidocr's models do not have."""

import csv
import io
import shutil
import subprocess
from collections.abc import Collection, Mapping, Sequence

from afterwit.errors import ProviderError, UsageError
from afterwit.model.page import Box, TextLine, Tile

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
    (``apt-get install tesseract-ocr-deu``). It does not see what is struck through."""

    def __init__(self, *, languages: str = "eng", executable: str | None = None, deadline: float = 120.0) -> None:
        """Raises UsageError where it is not installed."""
        found = executable or shutil.which("tesseract")
        if found is None:
            raise UsageError("tesseract is not installed: apt-get install tesseract-ocr")
        self._executable, self._languages, self._deadline = found, languages, deadline
        self.name = f"tesseract:{languages}"

    def knows(self, script: str) -> bool:
        """By its languages; of those that are in no table here it is believed to."""
        mine = set(self._languages.split("+"))
        return bool(mine & set(LANGUAGES.get(script, ()))) or not mine & _KNOWN

    def __call__(self, tile: Tile) -> Sequence[TextLine]:
        command = [self._executable, "stdin", "stdout", "-l", self._languages, "--psm", "11", "--dpi", "96", "tsv"]
        try:
            ran = subprocess.run(
                command, input=tile.png, capture_output=True, check=False, timeout=self._deadline, env=_ENVIRONMENT
            )
        except subprocess.TimeoutExpired:
            raise ProviderError(f"{self.name} took more than {self._deadline:g} s for one tile") from None
        except OSError as error:
            raise ProviderError(f"{self.name} cannot be run: {error.strerror or error}") from None
        if ran.returncode:
            fault = " ".join(ran.stderr.decode("utf-8", "replace").split())[:200]
            raise ProviderError(f"{self.name} failed: {fault}")
        return lines(ran.stdout.decode("utf-8", "replace"))


def lines(table: str) -> tuple[TextLine, ...]:
    """Words of Tesseract's TSV, put together where they follow one another on a line."""
    found: list[TextLine] = []
    place: tuple[str, ...] | None = None
    for row in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        text = (row.get("text") or "").strip()
        if not text or float(row["conf"]) < _LEAST:
            continue
        box = _box(row)
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
    return Box(left=float(row["left"]), top=float(row["top"]), width=float(row["width"]), height=float(row["height"]))
