"""What one sense takes a page to say: an item card, and the amounts that it chose its price from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from afterwit.model.page import ItemCard, Sense


@dataclass(frozen=True, kw_only=True)
class Quote:
    """An amount where a page gives it. place: ``line`` of a text, or the syntax of metadata, ``state``, ``attribute``.
    score: how much speaks for it among those of its sense, any zero. old: a price before a reduction. main: of the item
    itself, as far as the sense can tell, not of a variant or of something else."""

    value: Decimal
    currency: str | None = None
    place: str = "line"
    score: float = 0.0
    old: bool = False
    main: bool = True


@dataclass(frozen=True, kw_only=True)
class Reading:
    """quotes: in order. numbers: all that stand in a text, with or without a currency. names: of makers that scripts
    give, with how often. maker: the way in which the card's brand was found in a text."""

    sense: Sense
    card: ItemCard
    quotes: tuple[Quote, ...] = ()
    numbers: frozenset[Decimal] = frozenset()
    names: Mapping[str, int] = field(default_factory=dict)
    maker: str | None = None
