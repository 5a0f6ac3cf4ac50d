"""Answers kept on disk by the content of the request."""

import os
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from afterwit.chat.cache import Cached
from afterwit.errors import BudgetSpent, StoreError
from afterwit.model import Ask, Message, Reply
from afterwit.ports import ScriptedChat

ASK = Ask(messages=(Message(role="user", content="Qui? 谁?"),), purpose="gate")
REPLY = Reply(text="Moi – 我", finish="length", input_tokens=7, output_tokens=3)


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_the_second_asking_is_answered_from_disk_at_no_cost(tmp_path: Path) -> None:
    inner = ScriptedChat(REPLY)
    assert Cached(inner, tmp_path)(ASK) == REPLY
    assert Cached(inner, tmp_path)(ASK) == replace(REPLY, cached=True)
    assert len(inner.asked) == 1


def test_what_it_is_asked_for_does_not_matter_but_all_else_does(tmp_path: Path) -> None:
    inner = ScriptedChat(*(str(i) for i in range(9)))
    chat = Cached(inner, tmp_path)
    asks = [
        ASK,
        replace(ASK, seed=1),
        replace(ASK, temperature=0.7),
        replace(ASK, max_tokens=9),
        replace(ASK, schema={}),
    ]
    assert [chat(ask).text for ask in asks] == ["0", "1", "2", "3", "4"]
    assert [chat(replace(ask, purpose="other")).text for ask in asks] == ["0", "1", "2", "3", "4"]


def test_another_model_has_answers_of_its_own(tmp_path: Path) -> None:
    assert Cached(ScriptedChat("a", name="one"), tmp_path)(ASK).text == "a"
    assert Cached(ScriptedChat("b", name="two"), tmp_path)(ASK).text == "b"


def test_empty_answers_and_errors_are_not_kept(tmp_path: Path) -> None:
    inner = ScriptedChat("", "  \n", BudgetSpent("spent"), "good")
    chat = Cached(inner, tmp_path)
    assert [chat(ASK).text, chat(ASK).text] == ["", "  \n"]
    with pytest.raises(BudgetSpent):
        chat(ASK)
    assert files(tmp_path) == []
    assert chat(ASK).text == "good"


@pytest.mark.parametrize("rest", ["", '{"text": "Mo', "[]", '{"text": "x"}', "\xff"])
def test_a_damaged_file_is_asked_anew_and_mended(tmp_path: Path, rest: str) -> None:
    inner = ScriptedChat("first", "second")
    chat = Cached(inner, tmp_path)
    chat(ASK)
    (place,) = files(tmp_path)
    place.write_text(rest, encoding="latin-1")
    assert chat(ASK).text == "second"
    assert chat(ASK) == Reply(text="second", input_tokens=1, output_tokens=1, cached=True)


def test_where_two_ask_at_once_both_go_on_with_the_first_answer_written(tmp_path: Path) -> None:
    both = threading.Barrier(2)

    class Slow:
        name = "slow"

        def __init__(self, text: str) -> None:
            self.text = text

        def __call__(self, ask: Ask) -> Reply:
            both.wait(10)  # neither has written before both have asked
            return Reply(text=self.text, input_tokens=5, output_tokens=2)

    replies: list[Reply] = []
    threads = [threading.Thread(target=lambda t=t: replies.append(Cached(Slow(t), tmp_path)(ASK))) for t in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert replies[0] == replies[1]
    assert not replies[0].cached
    assert len(files(tmp_path)) == 1


def test_several_processes_share_a_folder_without_a_lock(tmp_path: Path) -> None:
    program = """if True:
        import sys
        from pathlib import Path
        from afterwit.chat.cache import Cached
        from afterwit.model import Ask, Message, Reply
        class Mine:
            name = "shared"
            def __call__(self, ask): return Reply(text=sys.argv[2] + ask.messages[0].content)
        chat = Cached(Mine(), Path(sys.argv[1]))
        for i in range(60):
            print(chat(Ask(messages=(Message(role="user", content=str(i)),))).text)
    """
    runs = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path), mark], stdout=subprocess.PIPE, text=True)
        for mark in "ab"
    ]
    said = [run.communicate()[0].split() for run in runs]
    assert said[0] == said[1]
    assert [text[1:] for text in said[0]] == [str(i) for i in range(60)]
    assert len(files(tmp_path)) == 60


def test_only_the_owner_may_read_it_and_the_request_is_not_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    Cached(ScriptedChat("ok"), folder)(ASK)
    (place,) = files(folder)
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(place).st_mode) == 0o600
    assert "谁" not in place.read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_made_or_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be made"):
        Cached(ScriptedChat("ok"), tmp_path / "file" / "cache")
    chat = Cached(ScriptedChat("ok"), tmp_path / "cache")
    (tmp_path / "cache").rmdir()
    with pytest.raises(StoreError, match="cannot be kept"):
        chat(ASK)
