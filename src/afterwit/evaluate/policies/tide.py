"""TIDE: rounds of credit and evolution within capacity, the very ones that `Memory.evolve` runs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from afterwit.credit.responsibility.grants import Grants
from afterwit.evaluate.policies.protocol import Known, Setting
from afterwit.evolve.round import plan_round
from afterwit.model import Bank, Batch, Card, Edit, Round, content_hash, fold


class Ledger(Protocol):
    """Where rounds are committed: a store, or the double below."""

    def bank(self) -> Bank: ...

    def commit(self, round_: Round) -> None: ...


class Folded:
    """The bank as the fold of its edits, in memory alone."""

    def __init__(self, scope: str, name: str) -> None:
        self._bank = Bank(scope=scope, name=name, version=0, cards=())

    def bank(self) -> Bank:
        return self._bank

    def commit(self, round_: Round) -> None:
        cards = {card.id: card for card in self._bank.cards} | fold(round_.edits)
        live = tuple(card for card in cards.values() if card.live)
        self._bank = replace(self._bank, version=self._bank.version + 1, cards=live)


class Tide:
    """rounds: all that were committed, oldest first."""

    bounded = True

    def __init__(
        self,
        setting: Setting,
        ledger: Ledger | None = None,
        *,
        grant: Callable[[], Grants] = Grants,
        name: str = "tide",
    ) -> None:
        """grant: responsibility credit that is due at an update; none by default."""
        self.name = name
        self._grant = grant
        self._setting = setting
        self._ledger = ledger or Folded(setting.scope, setting.bank)
        self._history: list[Batch] = []
        self.rounds: list[Round] = []

    def start(self, cards: tuple[Card, ...], known: Known) -> None:
        """The initial memory comes in as a round of its own, each card with the trial declared when it was written."""
        bank = self._ledger.bank()
        round_id = self._round_id(known, "initial")
        edits = tuple(
            Edit(
                id=content_hash(round_id, card.id)[:32],
                operator="admit",
                writes=(replace(card, provenance=replace(card.provenance, round_id=round_id)),),
                evidence=card.provenance.evidence,
                reason="initial memory, the same for all policies",
            )
            for card in cards
        )
        self._commit(
            Round(
                id=round_id,
                scope=bank.scope,
                bank=bank.name,
                as_of=known.as_of,
                base_version=bank.version,
                edits=edits,
                note="initial memory",
            )
        )

    def update(self, known: Known) -> None:
        self._commit(
            plan_round(
                self._ledger.bank(),
                known.evidence,
                items=known.items,
                design=known.design,
                history=self._history,
                credits=self._grant(),
                as_of=known.as_of,
                final=known.final,
                describe=self._setting.describe,
                rules=self._setting.rules,
                round_id=self._round_id(known, "round"),
            )
        )

    def cards(self) -> tuple[Card, ...]:
        return self._ledger.bank().cards

    def _commit(self, round_: Round) -> None:
        self._ledger.commit(round_)
        self.rounds.append(round_)
        if round_.batch is not None:
            self._history.append(round_.batch)

    def _round_id(self, known: Known, kind: str) -> str:
        return content_hash(self._setting.scope, kind, known.as_of.isoformat())[:32]


class ActiveOnly:
    """The confirmed cards of a tide bank, as a policy to compare; it learns nothing of its own."""

    bounded = True

    def __init__(self, tide: Tide) -> None:
        self.name = f"{tide.name}:active_only"
        self._tide = tide

    def start(self, cards: tuple[Card, ...], known: Known) -> None:
        pass

    def update(self, known: Known) -> None:
        pass

    def cards(self) -> tuple[Card, ...]:
        return tuple(card for card in self._tide.cards() if card.status == "active")
