"""What models cost, by purpose."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields

from afterwit.model import Ask, Reply
from afterwit.ports import Chat


@dataclass(frozen=True, kw_only=True)
class Price:
    """In any one currency, per million tokens."""

    input: float
    output: float


@dataclass(frozen=True, kw_only=True)
class Line:
    """calls: all that were answered, cached: those of them that cost nothing, failed: those that got no answer.
    Tokens and cost of the uncached; seconds waited for all."""

    calls: int = 0
    cached: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0

    def __add__(self, other: "Line") -> "Line":
        return self._with(other, 1)

    def __sub__(self, other: "Line") -> "Line":
        return self._with(other, -1)

    def _with(self, other: "Line", sign: int) -> "Line":
        return Line(**{f.name: getattr(self, f.name) + sign * getattr(other, f.name) for f in fields(self)})


@dataclass(frozen=True, kw_only=True)
class Usage:
    """purposes: in the order in which they first came. priced: whether the cost is known; it is 0 where not."""

    purposes: Mapping[str, Line] = field(default_factory=dict)
    priced: bool = False

    @property
    def total(self) -> Line:
        return sum(self.purposes.values(), Line())

    @property
    def figures(self) -> dict[str, float]:
        """For a round: what models cost in all, tokens read and written together."""
        total = self.total
        found = {
            "model_calls": float(total.calls),
            "model_cached": float(total.cached),
            "model_failed": float(total.failed),
            "model_tokens": float(total.input_tokens + total.output_tokens),
            "model_seconds": total.seconds,
        }
        return found | ({"model_cost": total.cost} if self.priced else {})

    def since(self, earlier: "Usage") -> "Usage":
        """What came after an earlier reading of the same meter, such as within one round."""
        later = {name: line - earlier.purposes.get(name, Line()) for name, line in self.purposes.items()}
        return Usage(
            purposes={name: line for name, line in later.items() if line.calls or line.failed}, priced=self.priced
        )


class Metered:
    """A chat that counts. Put it outermost, so that it sees what the cache answers."""

    def __init__(
        self,
        chat: Chat,
        *,
        prices: Mapping[str, Price] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """prices: by the name of the chat."""
        self._chat = chat
        self._price = (prices or {}).get(chat.name)
        self._clock = clock
        self._lines: dict[str, Line] = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._chat.name

    @property
    def usage(self) -> Usage:
        with self._lock:
            return Usage(purposes=dict(self._lines), priced=self._price is not None)

    def __call__(self, ask: Ask) -> Reply:
        began = self._clock()
        try:
            reply = self._chat(ask)
        except BaseException:
            self._add(ask.purpose, Line(failed=1, seconds=self._clock() - began))
            raise
        self._add(ask.purpose, self._line(reply, self._clock() - began))
        return reply

    def _line(self, reply: Reply, seconds: float) -> Line:
        if reply.cached:
            return Line(calls=1, cached=1, seconds=seconds)
        price = self._price or Price(input=0.0, output=0.0)
        return Line(
            calls=1,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            seconds=seconds,
            cost=(reply.input_tokens * price.input + reply.output_tokens * price.output) / 1e6,
        )

    def _add(self, purpose: str, line: Line) -> None:
        with self._lock:
            self._lines[purpose] = self._lines.get(purpose, Line()) + line


def metered(chat: Chat | None) -> Metered | None:
    """The chat with a meter around it, where it has none."""
    return chat if chat is None or isinstance(chat, Metered) else Metered(chat)
