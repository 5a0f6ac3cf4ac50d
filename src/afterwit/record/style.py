"""How a log file is written: format, packing, encoding, delimiter, where its header stands."""

import codecs
import csv
import gzip
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal, cast

from afterwit.errors import InputError, MissingExtra

Format = Literal["CSV", "JSON Lines", "Parquet", "Excel"]

_ENDINGS: dict[str, Format] = {
    ".csv": "CSV",
    ".tsv": "CSV",
    ".txt": "CSV",
    ".jsonl": "JSON Lines",
    ".ndjson": "JSON Lines",
    ".parquet": "Parquet",
    ".xlsx": "Excel",
}
_PACKED = (".gz", ".zst")
_DELIMITERS = ",;\t|^~\x1f\x01"
_HEAD = 50  # lines from which delimiter and header are told
_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


@dataclass(frozen=True, kw_only=True)
class Style:
    """What a mapping says of how the file is written; None is told from the file itself.

    skip: lines before the header. encoding: a name that Python knows, such as ``latin-1``.
    """

    delimiter: str | None = None
    encoding: str | None = None
    skip: int | None = None


def format_of(path: Path) -> Format:
    """By its name, a trailing ``.gz`` or ``.zst`` left out. Raises InputError."""
    name = path.name.lower()
    packed = next((end for end in _PACKED if name.endswith(end)), "")
    found = _ENDINGS.get(Path(name.removesuffix(packed)).suffix)
    if found is None or (packed and found in ("Parquet", "Excel")):
        raise InputError(
            f"{path} has no known format: name it .csv, .tsv, .jsonl, .parquet or .xlsx (CSV and JSON Lines may end "
            "in .gz or .zst)"
        )
    return found


def opened(path: Path) -> IO[bytes]:
    """Its bytes, unpacked."""
    if path.suffix.lower() == ".zst":
        try:
            import pyarrow
        except ImportError:
            raise MissingExtra("pyarrow", "events") from None
        return cast(IO[bytes], pyarrow.input_stream(str(path), compression="zstd"))
    return cast(IO[bytes], gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")


def encoding_of(path: Path, style: Style) -> str:
    if style.encoding:
        return style.encoding
    with opened(path) as file:
        first = file.read(4)
    return next((name for mark, name in _MARKS if first.startswith(mark)), "utf-8")


def text_of(path: Path, encoding: str) -> io.TextIOWrapper:
    """Its text, every kind of line end read as one. Raises InputError for an unknown encoding."""
    try:
        return io.TextIOWrapper(cast(Any, opened(path)), encoding=encoding, newline=None)
    except LookupError:
        raise InputError(f"there is no encoding {encoding!r}: write it as utf-8 or latin-1") from None


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Of a CSV file: column names, delimiter, lines before the header, encoding; plain: the engine may read it as it
    lies."""

    names: tuple[str, ...]
    delimiter: str
    skip: int
    encoding: str
    plain: bool


def layout(path: Path, style: Style) -> Layout:
    """Raises InputError where the first line is no header and the mapping does not say how many lines to skip."""
    encoding = encoding_of(path, style)
    skip = style.skip or 0
    with text_of(path, encoding) as file:
        lines = list(islice(file, skip + 4 * _HEAD))[skip:]
    with opened(path) as raw:
        head = raw.read(1 << 16)
    delimiter = style.delimiter or ("\t" if ".tsv" in path.name.lower() else _delimiter(lines))
    rows = _rows(lines, delimiter)
    if style.skip is None and (line := header_line(rows)):
        raise InputError(wrong_header(path, rows, line))
    names = tuple(next(iter(rows), ()))
    one_end = (b"\r" not in head) or (head.count(b"\r\n") == head.count(b"\n") == head.count(b"\r"))
    return Layout(
        names=names,
        delimiter=delimiter,
        skip=skip,
        encoding=encoding,
        plain=encoding.startswith("utf-8") and not skip and one_end,
    )


def header_line(rows: Sequence[Sequence[str]]) -> int:
    """Index of the row that looks like the header where the first does not, else 0.

    The first row is doubted where it has empty places, or fewer places than nearly every row after it; another is
    taken for the header where it is full, its texts differ and none is a number.
    """
    if len(rows) < 2:
        return 0
    wide = max(Counter(len(row) for row in rows[1:]).items(), key=lambda item: (item[1], item[0]))[0]
    first = [cell for cell in rows[0] if cell.strip()]
    if len(first) >= wide or (len(rows[0]) == wide and len(first) > wide / 2):
        return 0
    for i, row in enumerate(rows[1:10], 1):
        texts = [cell.strip() for cell in row]
        if len(row) == wide and all(texts) and len(set(texts)) == wide and not any(map(_number, texts)):
            return i
    return 0


def wrong_header(path: Path, rows: Sequence[Sequence[str]], line: int) -> str:
    filled = len([cell for cell in rows[0] if cell.strip()])
    return (
        f"{path}: the first line names {filled} columns and line {line + 1} {len(rows[line])}, so the header seems to "
        f"stand in line {line + 1}: say skip = {line} in the mapping ('afterwit mapping {path}' proposes one)"
    )


def copied(path: Path, encoding: str, place: Path, *, skip: int = 0) -> Path:
    """A copy as UTF-8 with one kind of line end, without the first lines."""
    with text_of(path, encoding) as source, place.open("w", encoding="utf-8", newline="\n") as out:
        for _ in range(skip):
            source.readline()
        while block := source.read(1 << 20):
            out.write(block)
    return place


def _delimiter(lines: Sequence[str]) -> str:
    """The one that cuts most lines into the same number of places, the first line among them; of several, the one
    that gives more places."""

    def score(delimiter: str) -> tuple[bool, float, int]:
        widths = [len(row) for row in _rows(lines, delimiter)]
        if not widths:
            return False, 0.0, 0
        wide, often = max(Counter(widths).items(), key=lambda item: (item[1], item[0]))
        if wide < 2:
            return False, 0.0, 0
        return widths[0] == wide, often / len(widths), wide

    best = max(_DELIMITERS, key=score)
    return best if score(best)[2] else max(",;\t", key=lines[0].count) if lines else ","


def _rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    try:
        return list(islice(csv.reader(lines, delimiter=delimiter), _HEAD))
    except (csv.Error, TypeError) as error:
        raise InputError(f"the head of the file cannot be cut at {delimiter!r}: {error}") from None


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def style_of(path: Path) -> tuple[Style, str]:
    """What a mapping must say of the file, guessed, and a word on the lines to skip."""
    kind = format_of(path)
    encoding = None
    if kind in ("CSV", "JSON Lines") and encoding_of(path, Style()) == "utf-8":
        try:
            with opened(path) as file:
                codecs.getincrementaldecoder("utf-8")().decode(file.read(1 << 22))
        except UnicodeDecodeError:
            encoding = "cp1252"
    style = Style(encoding=encoding)
    if kind != "CSV":
        return style, ""
    with text_of(path, encoding or encoding_of(path, style)) as text:
        lines = list(islice(text, 4 * _HEAD))
    skip = header_line(_rows(lines, _delimiter(lines)))
    return Style(encoding=encoding, skip=skip or None), f"the header seems to stand in line {skip + 1}"
