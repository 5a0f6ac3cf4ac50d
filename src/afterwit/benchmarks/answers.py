"""What agents answered and did elsewhere, from JSON Lines."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from afterwit.errors import InputError
from afterwit.model import Episode, Step

_AT = datetime(2000, 1, 1, tzinfo=UTC)


def read_responses(path: Path) -> dict[int, str]:
    """``{"number": 1, "response": "…"}`` a line. Raises InputError, naming the line."""
    found: dict[int, str] = {}
    for line, row in _rows(path):
        if type(row.get("number")) is not int or not isinstance(row.get("response"), str):
            raise InputError(f"{path}, line {line}: a number and a text 'response' are needed")
        if row["number"] in found:
            raise InputError(f"{path}, line {line}: question {row['number']} was answered before")
        found[row["number"]] = row["response"]
    return found


def read_runs(path: Path) -> dict[str, Episode]:
    """``{"task": "…", "steps": [{"tool": "…", "arguments": {…}, "result": "…"}], "output": "…"}`` a line, by task."""
    found: dict[str, Episode] = {}
    for line, row in _rows(path):
        try:
            task = str(row["task"])
            steps = tuple(
                Step(
                    tool=str(step["tool"]),
                    arguments=dict(step.get("arguments") or {}),
                    result=_text(step.get("result")),
                    error=_text(step.get("error")),
                )
                for step in row.get("steps") or ()
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}, line {line}: {type(error).__name__}: {error}") from None
        if task in found:
            raise InputError(f"{path}, line {line}: task {task} was run before")
        output, plan = _text(row.get("output")), _text(row.get("plan"))
        found[task] = Episode(id=task, scope="runs", task=task, started_at=_AT, plan=plan, steps=steps, output=output)
    return found


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    try:
                        row = json.loads(line)
                    except ValueError as error:
                        raise InputError(f"{path}, line {number}: not JSON: {error}") from None
                    if not isinstance(row, dict):
                        raise InputError(f"{path}, line {number}: not an object")
                    yield number, row
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
