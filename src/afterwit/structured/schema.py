"""The schema that a pydantic model stands for, as endpoints take it, and the prompt for those that take none."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from afterwit.model import Ask, Message


@lru_cache(maxsize=256)  # pydantic takes a millisecond or two to write one down
def schema_of(model: type[BaseModel]) -> Mapping[str, Any]:
    """JSON schema in the form that strict endpoints demand: every object closed, every property required.

    Titles and defaults go: they tell the model nothing and invite echoes. What the answer leaves out may still have a
    default in the model itself.
    """
    schema: Mapping[str, Any] = _strict(model.model_json_schema())
    return schema


def prompted(ask: Ask) -> Ask:
    """The same request in plain words, for an endpoint that takes no schema."""
    if ask.schema is None:
        return ask
    return replace(with_words(ask, instruction(ask.schema)), schema=None)


def instruction(schema: Mapping[str, Any]) -> str:
    return (
        "Answer with one JSON value that satisfies this JSON schema, filled in, and with nothing else:\n"
        + json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    )


def with_words(ask: Ask, words: str) -> Ask:
    """Said by the user at the end; in the last message where that is the user's, since some models want turns."""
    *before, last = ask.messages or (Message(role="user", content=""),)
    if last.role == "user":
        return replace(ask, messages=(*before, replace(last, content=f"{last.content}\n\n{words}".strip())))
    return replace(ask, messages=(*before, last, Message(role="user", content=words)))


def _strict(node: Any, *, names: bool = False) -> Any:
    """names: the keys of this mapping are names of the user's, not keywords of the schema language."""
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    if names:
        return {key: _strict(value) for key, value in node.items()}
    kept = {
        key: _strict(value, names=key in ("properties", "$defs"))
        for key, value in node.items()
        if key not in ("title", "default")
    }
    if "properties" in kept:
        kept.setdefault("additionalProperties", False)
        kept["required"] = list(kept["properties"])
    return kept
