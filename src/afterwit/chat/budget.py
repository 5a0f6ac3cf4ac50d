"""A hard limit on what models may cost: calls and tokens, across threads and chats."""

import json
import threading
from dataclasses import dataclass

from afterwit.errors import BudgetSpent
from afterwit.model import Ask, Reply, count_tokens
from afterwit.ports import Chat

_PER_MESSAGE = 8
"""Tokens that a chat template puts around a message, by our rule of thumb."""


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What was used so far; handed to a new budget, it goes on from there. tokens: input and output."""

    calls: int = 0
    tokens: int = 0


class Budget:
    """Shared by every chat that it is given to. None means no limit."""

    def __init__(self, *, calls: int | None = None, tokens: int | None = None, spent: Spent | None = None) -> None:
        self.calls = calls
        self.tokens = tokens
        self._spent = spent or Spent()
        self._held = Spent()
        self._settled = threading.Condition()

    @property
    def spent(self) -> Spent:
        with self._settled:
            return self._spent

    def hold(self, tokens: int) -> None:
        """Sets one call and its most tokens aside. Waits while calls under way may still leave room; raises
        BudgetSpent where there is none."""
        with self._settled:
            while self._over(self._held.calls + 1, self._held.tokens + tokens):
                if self._over(1, tokens):
                    raise BudgetSpent(self._message(tokens))
                self._settled.wait()
            self._held = Spent(calls=self._held.calls + 1, tokens=self._held.tokens + tokens)

    def settle(self, held: int, used: int) -> None:
        """Books what a call used in place of what was held for it."""
        with self._settled:
            self._held = Spent(calls=self._held.calls - 1, tokens=self._held.tokens - held)
            self._spent = Spent(calls=self._spent.calls + 1, tokens=self._spent.tokens + used)
            self._settled.notify_all()

    def _over(self, calls: int, tokens: int) -> bool:
        return (self.calls is not None and self._spent.calls + calls > self.calls) or (
            self.tokens is not None and self._spent.tokens + tokens > self.tokens
        )

    def _message(self, tokens: int) -> str:
        if self.calls is not None and self._spent.calls >= self.calls:
            return f"all {self.calls:,} calls to models are used up: raise the budget to go on"
        return (
            f"{self._spent.tokens:,} of {self.tokens or 0:,} tokens are used and the next call may take {tokens:,}: "
            "raise the budget to go on"
        )


class Budgeted:
    """A chat that asks only within a budget. Put a cache around it, not inside: what is cached costs nothing."""

    def __init__(self, chat: Chat, budget: Budget) -> None:
        self._chat = chat
        self._budget = budget

    @property
    def name(self) -> str:
        return self._chat.name

    def __call__(self, ask: Ask) -> Reply:
        most = most_tokens(ask)
        self._budget.hold(most)
        used = 0
        try:
            reply = self._chat(ask)
            used = 0 if reply.cached else reply.input_tokens + reply.output_tokens
            return reply
        finally:
            self._budget.settle(most, used)


def most_tokens(ask: Ask) -> int:
    """What a call may cost: its text by an estimate that leans high, its schema, and the whole answer allowed."""
    texts = sum(count_tokens(message.content) + _PER_MESSAGE for message in ask.messages)
    schema = count_tokens(json.dumps(ask.schema, ensure_ascii=False)) if ask.schema is not None else 0
    return texts + schema + ask.max_tokens
