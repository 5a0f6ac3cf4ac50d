"""How often one caller may ask: a bucket of tokens each, in this process."""

import threading
from dataclasses import dataclass, field

from afterwit.errors import RateLimited


@dataclass(kw_only=True, eq=False)
class Rates:
    """rate: requests a second that a caller may keep up. burst: how many at once after a pause. Callers unused so long
    that their bucket is full again are dropped."""

    rate: float
    burst: float
    _buckets: dict[str, tuple[float, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, caller: str, now: float) -> None:
        """now: seconds of a monotonic clock. Raises RateLimited."""
        with self._lock:
            tokens, at = self._buckets.get(caller, (self.burst, now))
            tokens = min(self.burst, tokens + (now - at) * self.rate)
            if tokens < 1:
                self._buckets[caller] = (tokens, now)
                raise RateLimited((1 - tokens) / self.rate)
            self._buckets[caller] = (tokens - 1, now)
            if len(self._buckets) > 10_000:
                full = self.burst / self.rate
                self._buckets = {name: kept for name, kept in self._buckets.items() if now - kept[1] < full}
