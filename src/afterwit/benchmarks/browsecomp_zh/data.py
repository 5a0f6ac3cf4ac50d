"""The published sheet: Topic, Question, Answer and a canary, the former encrypted with a key made of the latter."""

import base64
import binascii
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from afterwit.errors import InputError, MissingExtra

_COLUMNS = ("Topic", "Question", "Answer", "canary")


@dataclass(frozen=True)
class Question:
    """number: place in the sheet, from 1. Question and answer do not show when a value is printed."""

    number: int
    topic: str = field(repr=False)
    question: str = field(repr=False)
    answer: str = field(repr=False)


def load(path: Path) -> tuple[Question, ...]:
    """Raises InputError, naming the row, for a sheet that is not the published one; MissingExtra without openpyxl."""
    try:
        from openpyxl import load_workbook
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError:
        raise MissingExtra("openpyxl", "sheets") from None
    try:
        with path.open("rb") as file:
            sheet = load_workbook(file, read_only=True).active
            rows: list[Sequence[object]] = list(sheet.iter_rows(values_only=True)) if sheet is not None else []
    except (OSError, InvalidFileException, KeyError, ValueError, EOFError, binascii.Error) as error:
        raise InputError(f"{path} cannot be read as a sheet: {error}") from None
    except Exception as error:  # a broken archive raises what zipfile and the XML parser please
        raise InputError(f"{path} cannot be read as a sheet: {type(error).__name__}: {error}") from None
    if not rows or tuple(rows[0][: len(_COLUMNS)]) != _COLUMNS:
        raise InputError(f"{path}: the first row must be {', '.join(_COLUMNS)}")
    found = []
    for number, row in enumerate(rows[1:], start=1):
        values = [str(value or "") for value in row[: len(_COLUMNS)]]
        try:
            topic, question, answer = (decrypted(text, values[3]) for text in values[:3])
        except ValueError:
            raise InputError(f"{path}, row {number + 1}: it cannot be decrypted with its canary") from None
        found.append(Question(number, topic, question, answer))
    return tuple(found)


def decrypted(text: str, canary: str) -> str:
    """Base64 of UTF-8, xored with the SHA-256 of the canary, repeated. Raises ValueError."""
    data = base64.b64decode(text, validate=True)
    if not canary:
        raise ValueError("there is no canary")
    return _xor(data, canary).decode("utf-8")


def encrypted(text: str, canary: str) -> str:
    return base64.b64encode(_xor(text.encode("utf-8"), canary)).decode("ascii")


def _xor(data: bytes, canary: str) -> bytes:
    key = hashlib.sha256(canary.encode("utf-8")).digest()
    return bytes(byte ^ key[i % len(key)] for i, byte in enumerate(data))
