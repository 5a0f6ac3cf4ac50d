"""Running commands as a shell would, in this process: what they print, and how they end."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from afterwit import cli
from afterwit.cli import screen


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Shell = Callable[..., Ran]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """Runs ``afterwit …`` in a folder of its own, 80 columns wide."""
    monkeypatch.chdir(tmp_path)
    for name in ("AFTERWIT_STORE", "AFTERWIT_SCOPE", "AFTERWIT_TAU2_PYTHON"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(screen.console, "_width", 80)

    def run(*arguments: str | Path) -> Ran:
        monkeypatch.setattr("sys.argv", ["afterwit", *map(str, arguments)])
        capsys.readouterr()
        try:
            cli.main()
            code: Any = 0
        except SystemExit as ended:
            code = ended.code
        said = capsys.readouterr()
        return Ran(int(code or 0), said.out, said.err)

    return run


def deliveries(folder: Path, tests: int = 12) -> Path:
    """A log of randomised tests of two headlines, the question always the better one."""
    lines = []
    for t in range(tests):
        created = f"2026-01-{1 + t % 20:02d}T00:00:00Z"
        for text, clicks in ((f"Films for topic number {t}?", 90), (f"Films for topic number {t}", 40)):
            row = {"delivery_id": f"{t}-{clicks}", "created_at": created, "text": text, "experiment": f"t{t}"}
            lines.append({**row, "impressions": 2000, "clicks": clicks + t % 3})
    path = folder / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return path
