"""Excel files: the first sheet as rows of text."""

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from afterwit.errors import InputError, MissingExtra
from afterwit.record.style import Style, header_line, wrong_header

_HEAD = 50


def sheet_head(path: Path, style: Style) -> tuple[tuple[str, ...], int]:
    """Column names, those at the end without a name left out, and the lines before them. Raises InputError."""
    rows = [["" if value is None else value for value in row] for row in islice(sheet_rows(path), _HEAD)]
    if style.skip is None and (line := header_line(rows)):
        raise InputError(wrong_header(path, rows, line))
    skip = style.skip or 0
    names = rows[skip] if skip < len(rows) else []
    while names and not names[-1].strip():
        names.pop()
    return tuple(names), skip


def sheet_copy(path: Path, names: tuple[str, ...], skip: int, place: Path) -> Path:
    """The sheet as a CSV file from its header on."""
    with place.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        for row in islice(sheet_rows(path), skip, None):
            padded = [*row, *[None] * (len(names) - len(row))]
            rest = [value for value in padded[len(names) :] if value is not None]
            writer.writerow([*padded[: len(names)], *rest])
    return place


def sheet_rows(path: Path) -> Iterator[list[str | None]]:
    """Rows of an Excel file's first sheet as text, empty ones at the end left out. Raises InputError, MissingExtra."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra("openpyxl", "sheets") from None
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except Exception as error:  # a zip, its XML or the workbook: each library raises its own
        raise InputError(f"{path} cannot be read as Excel: {' '.join(str(error).split())[:200]}") from None
    empty = 0
    try:
        for row in book.worksheets[0].iter_rows(values_only=True):
            if all(value is None for value in row):
                empty += 1
                continue
            for _ in range(empty):
                yield []
            empty = 0
            yield [_cell(value) for value in row]
    finally:
        book.close()


def _cell(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)
