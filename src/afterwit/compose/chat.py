"""A model: its vendor, and around it the cache, the budget and the accounting."""

from collections.abc import Mapping
from pathlib import Path

from afterwit.chat.budget import Budget, Budgeted
from afterwit.chat.cache import Cached
from afterwit.chat.meter import Metered, Price
from afterwit.errors import UsageError
from afterwit.ports import Chat


def open_chat(
    spec: str,
    *,
    cache: Path | None = None,
    calls: int | None = None,
    tokens: int | None = None,
    prices: Mapping[str, Price] | None = None,
) -> Metered:
    """A model by its spec: ``local`` (or ``local:FILE.gguf``), ``openai:MODEL``, ``anthropic:MODEL``; a model that is
    not named comes from the environment.

    Metered outside, then the cache (a folder), then the budget of calls and tokens: what the cache answers is counted
    and costs nothing, so a run that stopped at its budget goes on from there when it is started again. prices: by the
    name of the chat. Raises UsageError for an unknown spec or a missing key, MissingExtra where its packages are not
    installed.
    """
    chat = _provider(spec)
    if calls is not None or tokens is not None:
        chat = Budgeted(chat, Budget(calls=calls, tokens=tokens))
    if cache is not None:
        chat = Cached(chat, cache)
    return Metered(chat, prices=prices)


def _provider(spec: str) -> Chat:
    vendor, _, model = spec.partition(":")
    if vendor == "local":
        from afterwit.providers.local import LocalChat  # each vendor's packages are optional

        return LocalChat(Path(model) if model else None)
    if vendor == "openai":
        from afterwit.providers.openai import OpenAIChat

        return OpenAIChat(model or None)
    if vendor == "anthropic":
        from afterwit.providers.anthropic import AnthropicChat

        return AnthropicChat(model or None)
    raise UsageError(f"there is no model {spec!r}: name local, openai:MODEL or anthropic:MODEL")
