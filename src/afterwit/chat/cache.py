"""Answers kept on disk under the content of the request: a replay or a second run costs nothing."""

import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from afterwit.errors import StoreError
from afterwit.model import Ask, Reply
from afterwit.ports import Chat


class Cached:
    """A chat that asks each question once.

    One file a request, whole or not at all; where several processes ask the same at once, the first answer written
    is the one that all of them get. Empty answers are not kept: they are accidents. The files hold what the model
    said and nothing of the request; only their owner may read them.
    """

    def __init__(self, chat: Chat, folder: Path) -> None:
        """Raises StoreError where the folder cannot be made."""
        self._chat = chat
        self._folder = folder
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"the cache {folder} cannot be made: {error.strerror}") from None

    @property
    def name(self) -> str:
        return self._chat.name

    def __call__(self, ask: Ask) -> Reply:
        key = ask.key(self.name)
        place = self._folder / key[:2] / f"{key}.json"
        if (kept := _read(place)) is not None:
            return replace(kept, cached=True)
        reply = self._chat(ask)
        if not reply.text.strip() or _write(place, reply):
            return reply
        kept = (
            _read(place) or reply
        )  # another process was first: all go on with its answer, this call still has its cost
        return replace(reply, text=kept.text, finish=kept.finish)


def _read(place: Path) -> Reply | None:
    """None for an answer that is not there or no longer whole."""
    try:
        value: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
        return Reply(
            text=str(value["text"]),
            finish="length" if value["finish"] == "length" else "stop",
            input_tokens=int(value["input_tokens"]),
            output_tokens=int(value["output_tokens"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(place: Path, reply: Reply) -> bool:
    """Whether this answer is the one kept now; False where a whole one was there already."""
    value = {
        "text": reply.text,
        "finish": reply.finish,
        "input_tokens": reply.input_tokens,
        "output_tokens": reply.output_tokens,
    }
    try:
        place.parent.mkdir(mode=0o700, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=place.parent, suffix=".partial")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as out:
                json.dump(value, out, ensure_ascii=False)
            try:
                os.link(name, place)
            except FileExistsError:
                if _read(place) is not None:
                    return False
                os.replace(name, place)  # what is there is damaged
            return True
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"the answer cannot be kept in {place.parent}: {error.strerror or error}") from None
