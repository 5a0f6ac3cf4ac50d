"""Cards, episodes and a small frozen generator for the tests of responsibility credit."""

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from afterwit.model import Card, Citation, Decision, Draft, Episode, Provenance, Recalled, Stance, Task

NOW = datetime(2026, 1, 1, tzinfo=UTC)
D = "hook=question"


def card(name: str, *, stance: Stance | None = None, effect: float = 0.0, version: int = 1) -> Card:
    return Card(
        id=name,
        version=version,
        scope="acme/push",
        key="a push",
        guidance=f"advice {name}",
        stance=stance,
        effect=effect,
        provenance=Provenance(operator="add"),
        created_at=NOW,
        valid_from=NOW,
    )


def decided(key: str) -> Decision:
    name, _, value = key.partition("=")
    return Decision(name=name, value=value)


def episode(
    recalled: Sequence[Card],
    cited: dict[str, str],
    *,
    decisions: Sequence[str] | None = None,
    withheld: str = "",
    id: str = "episode-1",
    candidates: tuple[str, ...] = (),
) -> Episode:
    """cited: decision key → the one-letter ids of the cards that it cites."""
    return Episode(
        id=id,
        scope="acme/push",
        task="write a push",
        context={"channel": "push"},
        started_at=NOW,
        recalled=tuple(
            Recalled(
                card_id=c.id,
                version=c.version,
                bank=c.bank,
                rank=i + 1,
                similarity=0.5,
                score=0.5,
                withheld=c.id in withheld,
            )
            for i, c in enumerate(recalled)
        ),
        decisions=tuple(decided(key) for key in (cited if decisions is None else decisions)),
        citations=tuple(Citation(decision=key, cards=tuple(ids)) for key, ids in cited.items() if ids),
        candidates=candidates,
    )


class Logic:
    """A generator from one rule per decision over the ids of the cards present; counts its calls."""

    def __init__(self, **rules: Callable[[frozenset[str]], bool]) -> None:
        self.rules = {key.replace("__", "="): rule for key, rule in rules.items()}
        self.prompts: list[tuple[str, ...]] = []
        self._lock = threading.Lock()

    def __call__(self, task: Task, cards: Sequence[Card], *, seed: int = 0) -> Draft:
        with self._lock:
            self.prompts.append(tuple(c.id for c in cards))
        present = frozenset(c.id for c in cards)
        shown = [key for key, rule in self.rules.items() if rule(present)]
        return Draft(output=" ".join(shown), decisions=tuple(decided(key) for key in shown))
