"""What every endpoint over HTTP shares: a deadline that holds, fields that it may refuse, text that can be stored."""

import asyncio
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from afterwit.errors import ProviderError
from afterwit.model import Ask, Reply
from afterwit.structured.schema import prompted

T = TypeVar("T")

THINKING_ROOM = 4096
"""Tokens allowed on top of an answer to models that think before they answer and count it as output."""

_UNWANTED = re.compile(r"support|unknown|unrecogni|unexpected|permitted|deprecat|not allowed|invalid param|extra ")


def within(seconds: float, call: Callable[[], Awaitable[T]]) -> T:
    """Runs a call to its end, or raises TimeoutError when the time is up, whatever it is doing then.

    A timeout of an HTTP client restarts with every byte that arrives, and an endpoint may keep a connection alive by
    blanks for as long as it likes. Cancelling is what stops it, hence the event loop. It is one of this call's own:
    nothing runs on in the background, and in a notebook, whose thread has a loop already, it takes a thread.
    """

    async def bounded() -> T:
        async with asyncio.timeout(seconds):
            return await call()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(bounded())
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, bounded()).result()


class Endpoint(ABC):
    """A model behind HTTP, asked through its vendor's client.

    retries: after 429, 5xx, timeouts and lost connections, with the client's own growing, jittered pauses.
    timeout: seconds for one attempt. deadline: seconds for an ask in all, retries and pauses included.

    Not every model takes every field. One that it refuses (400, 422) is left out from then on; a schema that it
    refuses is put in words instead.
    """

    schema_field: ClassVar[str]
    refusals: ClassVar[Mapping[str, str]]
    """Field → pattern of what a refusal says of it."""

    def __init__(
        self,
        library: Any,
        vendor: str,
        model: str,
        *,
        base_url: str | None,
        api_key: str,
        retries: int,
        timeout: float,
        deadline: float,
    ) -> None:
        """library: the client's module; those of both vendors are generated alike, errors included."""
        self._library = library
        self._vendor, self._model, self._base_url = vendor, model, base_url
        self._options = {"api_key": api_key, "base_url": base_url, "max_retries": retries, "timeout": timeout}
        self._deadline = deadline
        self._refused: frozenset[str] = frozenset()
        self._worded: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        if self._base_url is None:
            return f"{self._vendor}:{self._model}"
        url = urlsplit(self._base_url)
        return f"{self._vendor}:{self._model}@{url.netloc.rpartition('@')[2]}{url.path.rstrip('/')}"

    def __call__(self, ask: Ask) -> Reply:
        library = self._library
        try:
            return within(self._deadline, lambda: self._ask(ask))
        except (TimeoutError, library.APITimeoutError):
            raise ProviderError(f"{self.name} took too long: raise the deadline or ask for less") from None
        except library.APIConnectionError as error:
            raise ProviderError(f"{self.name} cannot be reached: {_one_line(error.__cause__ or error)}") from None
        except (library.AuthenticationError, library.PermissionDeniedError) as error:
            raise ProviderError(f"{self.name} refuses the key: {_one_line(error)}") from None
        except (library.APIError, ValueError) as error:
            raise ProviderError(f"{self.name} failed: {_one_line(error)}") from None

    async def _ask(self, ask: Ask) -> Reply:
        async with self._client() as client:
            while True:
                sent = prompted(ask) if _address(ask.schema) in self._worded else ask
                request = {key: value for key, value in self._request(sent).items() if key not in self._refused}
                try:
                    return self._reply(sent, await self._send(client, request))
                except (self._library.BadRequestError, self._library.UnprocessableEntityError) as error:
                    field = self._field(str(error).casefold(), request)
                    if field is None:
                        raise
                    if field == self.schema_field:
                        self._worded |= {_address(ask.schema)}
                    else:
                        self._refused |= {field}

    def _field(self, message: str, request: Mapping[str, Any]) -> str | None:
        """The field that a refusal is about. That of the schema needs a mention only; of another it must also be said
        that it is not wanted, since a limit that is exceeded is a fault of the request."""
        for name, pattern in self.refusals.items():
            if name in request and re.search(pattern, message):
                return name if name == self.schema_field or _UNWANTED.search(message) else None
        return None

    @abstractmethod
    def _client(self) -> Any:
        """A fresh client, as an asynchronous context."""

    @abstractmethod
    def _request(self, ask: Ask) -> dict[str, Any]: ...

    @abstractmethod
    async def _send(self, client: Any, request: Mapping[str, Any]) -> Any: ...

    @abstractmethod
    def _reply(self, ask: Ask, answer: Any) -> Reply:
        """Raises ProviderError where the answer is none."""

    def _declined(self, why: object) -> ProviderError:
        return ProviderError(f"{self.name} declined to answer: {_one_line(why)}")

    def _no_answer(self) -> ProviderError:
        return ProviderError(f"{self.name} answered without an answer: check that its address is right")


def storable(text: str) -> str:
    """Without halves of characters, which some endpoints cut in two and no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _address(schema: Mapping[str, Any] | None) -> str:
    return json.dumps(schema, sort_keys=True)


def _one_line(error: object) -> str:
    return " ".join(str(error).split())[:300]
