"""Memories by scope, opened when first asked for, on one place."""

import threading
from collections import OrderedDict

from afterwit.compose import Parts
from afterwit.memory import Memory

_KEPT = 1_000


class Tenants:
    """kept: memories held open at most; the one unused longest goes first. What it had laid out for recall goes too."""

    def __init__(self, place: Parts, *, kept: int = _KEPT) -> None:
        self.place = place
        self._kept = kept
        self._lock = threading.Lock()
        self._open: OrderedDict[str, Memory] = OrderedDict()

    def memory(self, scope: str) -> Memory:
        """Raises UnknownScope."""
        with self._lock:
            found = self._open.get(scope)
            if found is not None:
                self._open.move_to_end(scope)
                return found
        made = Memory(self.place, scope=scope, create=False)
        with self._lock:
            found = self._open.setdefault(scope, made)
            while len(self._open) > self._kept:
                self._open.popitem(last=False)
        return found

    def make(self, scope: str) -> Memory:
        """Makes the scope where there is none."""
        Memory(self.place, scope=scope, create=True)
        return self.memory(scope)

    def scopes(self) -> tuple[str, ...]:
        return self.place.store.scopes()
