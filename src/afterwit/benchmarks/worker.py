"""A benchmark in a Python of its own, behind a subprocess: one JSON request a line, one answer a line."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from afterwit.errors import UsageError


class Worker:
    """name: of the benchmark, for people. advice: the commands that make its environment."""

    def __init__(
        self, name: str, python: str | Path | None, script: Path, *, advice: str, settings: Mapping[str, str] = {}
    ) -> None:
        """Raises UsageError with the advice where there is no such Python, or the benchmark is not in it."""
        if not python or not Path(python).exists():
            raise UsageError(advice)
        self._name, self._advice = name, advice
        self._process = subprocess.Popen(
            [str(python), str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env={**os.environ, **settings},
        )
        greeting = self._read()
        if not greeting or "missing" in greeting:
            self.close()
            raise UsageError(f"{python} has no {greeting.get('missing', name)}. {advice}")

    def ask(self, **request: Any) -> Any:
        """Raises UsageError, in one line, for what the worker cannot do."""
        if self._process.stdin is None or self._process.poll() is not None:
            raise UsageError(f"{self._name}: the worker ended. {self._advice}")
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._read()
        if not answer or "failed" in answer:
            raise UsageError(f"{self._name}: {answer.get('failed', 'the worker ended')}")
        return answer

    def close(self) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        if self._process.stdout:
            self._process.stdout.close()
        self._process.wait()

    def _read(self) -> dict[str, Any]:
        """What the worker says next; nothing where it ended."""
        line = self._process.stdout.readline() if self._process.stdout else ""
        found: dict[str, Any] = json.loads(line) if line else {}
        return found
