"""What the documentation says is so: every block runs, in the order of its page; the site builds strictly."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
PAGES = sorted(
    str(p.relative_to(DOCS)) for p in DOCS.rglob("*.md") if "adr" not in p.parts and _BLOCK.search(p.read_text())
)


def run(command: list[str], folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith("AFTERWIT_")}
    source = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    ran = subprocess.run(
        command, cwd=folder, env=surroundings | {"PATH": path, "PYTHONPATH": source}, capture_output=True, text=True
    )
    assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


@pytest.mark.parametrize("page", PAGES)
def test_every_block_runs(tmp_path: Path, page: str) -> None:
    for language, title, code in _BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
        if title:
            (tmp_path / title).write_text(code, encoding="utf-8")
        elif language == "python":
            run([sys.executable, "-c", code], tmp_path)
        elif language == "sh":
            run(["bash", "-euo", "pipefail", "-c", code], tmp_path)
        else:
            pytest.fail(f"{page}: a block of {language} that nothing runs: give it a title or make it python or sh")


def test_the_tutorial_ends_with_a_proven_card_and_its_evidence(tmp_path: Path) -> None:
    test_every_block_runs(tmp_path, "tutorial.md")
    shown = run(["afterwit", "cards"], tmp_path)
    assert "active" in shown
    card = re.findall(r"[0-9a-f]{12}", shown)[-1]
    told = run(["afterwit", "show", card], tmp_path)
    assert "confirmation" in told
    assert "120 strata" in told


def test_every_key_of_a_mapping_and_every_error_is_documented() -> None:
    from afterwit.record.mapping import ColumnMapping

    keys = (DOCS / "reference" / "mapping.md").read_text()
    assert [name for name in ColumnMapping.model_fields if f"`{name}`" not in keys] == []


def test_the_site_builds_strictly_and_fetches_nothing(tmp_path: Path) -> None:
    run([sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")], ROOT)
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 20
    commands = (tmp_path / "site" / "reference" / "cli.html").read_text()
    assert "afterwit profile read" in commands
    assert "--dry-run" in commands
    for page in pages:
        fetched = re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="(https?:[^"]+)"', page.read_text())
        assert [url for url in fetched if "canonical" not in url] == [], page
