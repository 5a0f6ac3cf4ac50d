"""Forgetting: the text of a card, an episode or a delivery leaves every row that holds or quotes it.

What goes with it: versions of the card in edits, cards derived from it (their guidance quotes it, or it is their
only case), deliveries that an episode made, and reasons and notes of rounds that quote it or name it. Ids of cards,
which the memory made itself, stay as the skeleton of the history, so the fold of the edits still holds; ids of episodes
and deliveries, which may say something, leave it too. An erased card is in none of the edits.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from sqlalchemy import Connection, Table, delete, func, select, update

from afterwit.errors import InputError, NotFound
from afterwit.model import Card, Delivery, Edit, Episode, normalised
from afterwit.ports import Forgotten
from afterwit.store.codec import dumps, from_json, loads, to_json
from afterwit.store.ledger import lock_scope
from afterwit.store.profiles import drop
from afterwit.store.rounds import recount
from afterwit.store.tables import (
    banks,
    cards,
    chunks,
    context_fields,
    deliveries,
    edit_cards,
    edits,
    episodes,
    filings,
    folded,
    profiles,
    recalls,
    replies,
    rounds,
    vectors,
)
from afterwit.store.tombstones import bury, forgotten
from afterwit.store.unname import unname

T = TypeVar("T")

FORGOTTEN = "[forgotten]"
_SHORTEST = 12  # characters from which on a text contained in another counts as quoted; shorter ones must be equal
_WINDOW = 24  # characters in a row that make a cut quotation in a reason

# Reasons and notes are written by the program around ids; these fields hold ids, names and times, never text.
_SKELETON = {"id", "scope", "bank", "operator", "status", "kind", "verdict", "as_of", "at", "objective", "source"}


@dataclass
class _Erased:
    """ids and texts to be gone from everywhere; texts are compared normalised."""

    ids: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)

    def learn(self, texts: Iterable[str | None]) -> None:
        self.texts |= {normalised(text) for text in texts if text and text.strip()}

    def whole_in(self, text: str) -> bool:
        there = normalised(text)
        return any(t == there or (len(t) >= _SHORTEST and t in there) for t in self.texts)

    def quoted_in(self, text: str) -> bool:
        if self.whole_in(text):
            return True
        there = normalised(text)
        return any(
            t[i : i + _WINDOW] in there
            for t in self.texts
            if len(there) >= _WINDOW
            for i in range(len(t) - _WINDOW + 1)
        )

    def clean(self, data: Any, *, cut: bool = True) -> Any:
        """JSON without quotations; with ``cut`` also without parts of one and what is said of an erased id."""
        quotes = self.quoted_in if cut else self.whole_in
        if isinstance(data, str):
            return FORGOTTEN if quotes(data) else data
        if isinstance(data, list):
            return [self.clean(value, cut=cut) for value in data]
        if not isinstance(data, dict):
            return data
        concerned = cut and any(isinstance(value, str) and value in self.ids for value in data.values())
        found = {}
        for key, value in data.items():
            if key in _SKELETON or key.endswith(("_id", "_ids", "_at")):
                found[key] = value
            elif concerned and key == "reason":
                found[key] = FORGOTTEN
            elif concerned and key == "lessons":
                found[key] = {}
            else:
                found[FORGOTTEN if quotes(key) else key] = self.clean(value, cut=cut)
        return found


def forget(
    connection: Connection,
    scope: str,
    *,
    card_id: str | None,
    episode_id: str | None,
    delivery_id: str | None,
    user: str | None,
    everything: bool,
) -> Forgotten:
    """Raises NotFound for an unknown target; one that was forgotten before is no error."""
    lock_scope(connection, scope, "everything")
    named = {"card": card_id, "episode": episode_id, "delivery": delivery_id, "user": user}
    targets = [(kind, id_) for kind, id_ in named.items() if id_ is not None]
    if len(targets) + everything != 1:
        raise InputError("forget takes exactly one of a card, an episode, a delivery, a user or everything")
    if everything:
        return _everything(connection, scope)
    kind, id_ = targets[0]
    if kind == "user":
        return _user(connection, scope, id_)
    if forgotten(connection, scope, kind, [id_]):
        return Forgotten()
    erased = _Erased()
    written = {e.id: e for e in _values(connection, scope, edits, Edit)}
    if kind == "card":
        erased.ids.add(id_)
        if not any(card.id == id_ for edit in written.values() for card in edit.writes):
            raise NotFound(f"there is no card {id_} in scope {scope!r}")
        episodes_gone, deliveries_gone, linked = list[str](), list[str](), None
    else:
        episodes_gone, deliveries_gone, linked = _records(connection, scope, kind, id_, erased)
    gone = _derived(written.values(), erased, {*episodes_gone, *deliveries_gone} | ({id_} if kind == "card" else set()))
    _drop(connection, scope, episodes, episodes.c.id, episodes_gone)
    _drop(connection, scope, recalls, recalls.c.episode_id, episodes_gone)
    _drop(connection, scope, deliveries, deliveries.c.id, deliveries_gone)
    changed = _rewrite_history(connection, scope, written, erased, gone)
    _drop(connection, scope, vectors, vectors.c.card_id, sorted(gone))
    _drop(connection, scope, filings, filings.c.card_id, sorted(gone))
    _drop(connection, scope, cards, cards.c.id, sorted(gone))
    for table in (episodes, deliveries) if kind == "card" else (episodes,):
        _rewrite_records(connection, scope, table, erased, only=linked)
    names = [("card", i) for i in sorted(gone)] + [("episode", i) for i in episodes_gone]
    return _bury(
        connection,
        scope,
        [*names, *(("delivery", i) for i in deliveries_gone)],
        Forgotten(cards=len(gone), episodes=len(episodes_gone), deliveries=len(deliveries_gone), rounds=changed),
    )


def _records(
    connection: Connection, scope: str, kind: str, id_: str, erased: _Erased
) -> tuple[list[str], list[str], str]:
    """The episodes and deliveries that go, and an episode that stays but may quote them."""
    if kind == "episode":
        found = list(_values(connection, scope, episodes, Episode, episodes.c.id == id_))
        made = list(_values(connection, scope, deliveries, Delivery, deliveries.c.episode_id == id_))
    else:
        found, made = [], list(_values(connection, scope, deliveries, Delivery, deliveries.c.id == id_))
    if not found and not made:
        raise NotFound(f"there is no {kind} {id_} in scope {scope!r}")
    for episode in found:
        erased.learn((episode.task, episode.plan, episode.output, episode.feedback))
        for step in episode.steps:
            erased.learn((step.result, step.error, *_strings(step.arguments)))
    erased.learn(delivery.text for delivery in made)
    erased.ids |= {episode.id for episode in found} | {delivery.id for delivery in made}
    linked = made[0].episode_id if kind == "delivery" else None
    return [episode.id for episode in found], [delivery.id for delivery in made], linked or ""


def _derived(written: Iterable[Edit], erased: _Erased, sources: set[str]) -> set[str]:
    """Ids of the cards that go, their texts learned, until no further card quotes one of them."""
    versions: dict[str, list[Card]] = {}
    for edit in written:
        for card in edit.writes:
            versions.setdefault(card.id, []).append(card)
    gone: set[str] = set()
    while True:
        more = {
            id_
            for id_, found in versions.items()
            if id_ not in gone and (id_ in sources or any(_follows(card, erased, sources) for card in found))
        }
        if not more:
            return gone
        gone |= more
        erased.ids |= more
        for id_ in more:
            erased.learn(text for card in versions[id_] for text in (card.guidance, *_own_decision(card)))


def _follows(card: Card, erased: _Erased, sources: set[str]) -> bool:
    sole_case = len(card.cases) == 1 and card.cases[0] in sources
    return sole_case or erased.whole_in(card.guidance)


def _own_decision(card: Card) -> tuple[str, ...]:
    """A stance on a topic repeats the guidance; a decision from a vocabulary is nobody's text."""
    stance = card.stance
    return (stance.decision,) if stance and normalised(card.guidance) in normalised(stance.decision) else ()


def _rewrite_history(
    connection: Connection, scope: str, written: Mapping[str, Edit], erased: _Erased, gone: set[str]
) -> int:
    """Edits without the erased cards, and rounds without quotations; the count of rounds changed."""
    changed = set()
    for edit in written.values():
        kept = tuple(card for card in edit.writes if card.id not in gone)
        touched = len(kept) < len(edit.writes) or not gone.isdisjoint(edit.parents) or erased.quoted_in(edit.reason)
        if touched:
            here = (edits.c.scope == scope) & (edits.c.id == edit.id)
            text = to_json(replace(edit, writes=kept, reason=FORGOTTEN))
            connection.execute(update(edits).where(here).values(payload=text))
            changed.add(connection.scalar(select(edits.c.round_id).where(here)))
    for row in connection.execute(select(rounds.c.id, rounds.c.payload).where(rounds.c.scope == scope)).all():
        data = loads(row.payload)
        cleaned = erased.clean(data)
        if row.id in changed and data["note"]:
            cleaned["note"] = FORGOTTEN
        if cleaned != data:
            here = (rounds.c.scope == scope) & (rounds.c.id == row.id)
            connection.execute(update(rounds).where(here).values(payload=dumps(cleaned)))
            changed.add(row.id)
    return len(changed)


def _rewrite_records(connection: Connection, scope: str, table: Table, erased: _Erased, only: str | None) -> None:
    """Texts that quote what is erased, in episodes or deliveries. only: the one linked row; None means all."""
    query = select(table.c.id, table.c.payload).where(table.c.scope == scope)
    for row in connection.execute(query if only is None else query.where(table.c.id == only)).all():
        data = loads(row.payload)
        cleaned = erased.clean(data, cut=False)
        if cleaned != data:
            here = (table.c.scope == scope) & (table.c.id == row.id)
            connection.execute(update(table).where(here).values(payload=dumps(cleaned)))


def _everything(connection: Connection, scope: str) -> Forgotten:
    """The scope's rows and no other's; its name, embedder, settings and older tombstones stay."""
    counted = {}
    for table in (
        vectors,
        filings,
        edit_cards,
        edits,
        rounds,
        cards,
        recalls,
        episodes,
        deliveries,
        profiles,
        folded,
        context_fields,
        replies,
    ):
        here = table.c.scope == scope
        counted[table.name] = connection.scalar(select(func.count()).select_from(table).where(here)) or 0
        connection.execute(delete(table).where(here))
    done = Forgotten(
        cards=counted["cards"],
        episodes=counted["episodes"],
        deliveries=counted["deliveries"],
        rounds=counted["rounds"],
        profiles=counted["profiles"],
    )
    return _bury(connection, scope, [("scope", scope)], done)


def _user(connection: Connection, scope: str, user: str) -> Forgotten:
    """Every version of the profile. The user may come again, and is then a new one."""
    versions = drop(connection, scope, user)
    if not versions and not forgotten(connection, scope, "user", [user]):
        raise NotFound(f"there is no profile of {user} in scope {scope!r}")
    bury(connection, scope, [("user", user)])
    return Forgotten(profiles=versions, tombstones=(f"user:{user}",))


def _bury(connection: Connection, scope: str, names: list[tuple[str, str]], done: Forgotten) -> Forgotten:
    """Tombstones, and a new version of every bank, so that no reader goes on with a bank read earlier."""
    instead = bury(connection, scope, names)
    unname(connection, scope, {id_: instead[id_] for kind, id_ in names if kind in ("episode", "delivery")})
    connection.execute(update(banks).where(banks.c.scope == scope).values(version=banks.c.version + 1))
    recount(connection, scope)
    return replace(done, tombstones=tuple(f"{kind}:{id_}" for kind, id_ in names))


def _drop(connection: Connection, scope: str, table: Table, column: Any, ids: list[str]) -> None:
    for chunk in chunks(ids):
        connection.execute(delete(table).where(table.c.scope == scope, column.in_(chunk)))


def _values(connection: Connection, scope: str, table: Table, kind: type[T], *where: Any) -> Iterator[T]:
    query = select(table.c.payload).where(table.c.scope == scope, *where)
    return (from_json(kind, payload) for payload in connection.scalars(query).all())


def _strings(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from _strings(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _strings(value)
