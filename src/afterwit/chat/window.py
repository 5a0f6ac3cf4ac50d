"""A conversation cut to fit a model's context, at places where it may be cut."""

from collections.abc import Sequence

from afterwit.model import Message, count_tokens


def within(messages: Sequence[Message], tokens: int) -> tuple[Message, ...]:
    """The opening (system messages and the first of the user's) and as many of the newest exchanges as fit.

    An exchange is what the assistant said, a call of a tool for instance, with all that came back until it spoke
    again. Exchanges go whole and the oldest first, so no result loses its call: endpoints refuse such a pair. The
    opening and the newest exchange always stay, and no message is shortened; if those alone are too long, the
    endpoint will say so.
    """
    opening = next((at for at, message in enumerate(messages) if message.role == "assistant"), len(messages))
    exchanges: list[list[Message]] = []
    for message in messages[opening:]:
        if message.role == "assistant" or not exchanges:
            exchanges.append([])
        exchanges[-1].append(message)
    left = tokens - sum(count_tokens(message.content) for message in messages[:opening])
    kept: list[Message] = []
    for exchange in reversed(exchanges):
        left -= sum(count_tokens(message.content) for message in exchange)
        if left < 0 and kept:
            break
        kept[:0] = exchange
    return (*messages[:opening], *kept)
