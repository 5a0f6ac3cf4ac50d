"""Without an extra: everything else works, and what needs it names the command that installs it."""

import subprocess
import sys
from pathlib import Path

BLOCK = """
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Block())
"""


def run(folder: Path, blocked: set[str], code: str) -> subprocess.CompletedProcess[str]:
    program = BLOCK.format(blocked=blocked) + code
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=folder, check=False)


def test_without_events_a_memory_works_and_ingest_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"delivery_id": "d"}\n')
    code = """
from afterwit import Memory
from afterwit.ports import HashEmbedder
with Memory("m.db", scope="default", embedder=HashEmbedder()) as memory:
    memory.add("Ask a question.", key="push")
    assert memory.search("push")
from afterwit import compose
compose.memory.SentenceEncoder = HashEmbedder
from afterwit.cli import main
sys.argv = ["afterwit", "ingest", "log.jsonl", "--store", "m.db"]
main()
"""
    ran = run(tmp_path, {"duckdb", "ibis"}, code)
    assert ran.returncode == 2, ran.stderr
    assert ran.stderr.splitlines()[-1].endswith("pip install 'afterwit[events]'")
    assert "Traceback" not in ran.stderr


def test_without_the_reference_an_evaluation_leaves_it_out_and_says_so(tmp_path: Path) -> None:
    code = """
from afterwit.errors import MissingExtra
from afterwit.benchmarks.upworthy.reference import tfidf_ridge
try:
    tfidf_ridge(None)
except MissingExtra as error:
    print(error)
"""
    ran = run(tmp_path, {"sklearn"}, code)
    assert ran.stdout.strip().endswith("pip install 'afterwit[reference]'"), ran.stderr
