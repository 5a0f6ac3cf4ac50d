"""Users, items and candidates from a folder, in the layouts that published data come in.

    items.tsv, histories.tsv, candidates_NAME.tsv   item and user ids, titles, histories in order, the next item
    *.item.json, *_valid.csv                        item cards, and one line a step of a user's sequence
    training.jsonl                                  a user's reviews in order, and one held out

Each user is judged once, on the last item; what is known of others ends before theirs.
"""

import csv
import json
import random
from ast import literal_eval
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

from afterwit.errors import InputError
from afterwit.model import Interaction, Value, content_hash

csv.field_size_limit(10_000_000)


@dataclass(frozen=True, kw_only=True)
class Item:
    title: str
    attributes: Mapping[str, Value]


@dataclass(frozen=True, kw_only=True)
class User:
    """history: item ids in order, oldest first. candidates: negatives and the target, in an order of no meaning.
    at: when each was chosen, where known."""

    id: str
    history: tuple[str, ...]
    target: str
    candidates: tuple[str, ...] = ()
    at: tuple[datetime, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Ratings:
    """name: of the data. known: histories of everybody, targets left out, for what is commonly chosen."""

    name: str
    items: Mapping[str, Item]
    users: tuple[User, ...]
    known: tuple[tuple[str, ...], ...]

    def interactions(self, user: User) -> Iterator[Interaction]:
        for place, id_ in enumerate(user.history):
            item = self.items[id_]
            at = user.at[place] if user.at else None
            yield Interaction(item=id_, title=item.title, at=at, attributes=item.attributes, id=f"{user.id}/{place}")


def load(folder: Path, *, candidates: str, negatives: int, most: int | None = None, seed: int = 13) -> Ratings:
    """candidates: NAME of a candidate file, or ``random`` or ``popular``, drawn where there is none. most: users.

    Raises InputError for a folder without data that is known here, or a line that cannot be read.
    """
    if negatives < 1 or (most is not None and most < 1):
        raise InputError("negatives and users must be at least 1")
    if (folder / "histories.tsv").is_file():
        found = _tables(folder)
    elif any(folder.glob("*.item.json")):
        found = _cards(folder)
    elif (folder / "training.jsonl").is_file():
        found = _reviews(folder)
    else:
        raise InputError(f"{folder} holds none of histories.tsv, *.item.json or training.jsonl")
    listed = folder / f"candidates_{candidates}.tsv"
    if listed.is_file():
        chosen = _listed(listed, found, negatives)
    elif candidates in ("random", "popular"):
        chosen = _drawn(found, candidates, negatives, seed)
    else:
        raise InputError(f"{folder} has no candidates_{candidates}.tsv: give one that is there, random or popular")
    chosen = tuple(sorted(chosen, key=lambda user: content_hash(str(seed), user.id)))
    return replace(found, users=chosen[:most])


def _tables(folder: Path) -> Ratings:
    items = {}
    for number, row in _rows(folder / "items.tsv", 2):
        if number > 1:
            items[row[0]] = Item(title=unescape(row[1]).strip(), attributes={})
    users = []
    for number, row in _rows(folder / "histories.tsv", 3):
        if number > 1:
            history = tuple(row[1].split())
            for id_ in (*history, row[2]):
                if id_ not in items:
                    raise InputError(f"{folder / 'histories.tsv'}, line {number}: item {id_} is not in items.tsv")
            users.append(User(id=row[0], history=history, target=row[2]))
    return _known(folder.name, items, users)


def _cards(folder: Path) -> Ratings:
    (path,) = sorted(folder.glob("*.item.json"))[:1]
    cards = json.loads(path.read_text(encoding="utf-8"))
    items = {id_: Item(title=unescape(card["title"]), attributes=_card_attributes(card)) for id_, card in cards.items()}
    last: dict[str, User] = {}
    for table in sorted(folder.glob("*_valid.csv")):
        with table.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                history = tuple(map(str, literal_eval(row["history_item_id"])))
                user = User(id=row["user_id"], history=history, target=row["item_id"])
                if user.id not in last or len(last[user.id].history) < len(history):
                    last[user.id] = user
    return _known(path.name.split(".")[0], items, list(last.values()))


def _card_attributes(card: Mapping[str, object]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    if card.get("brand"):
        found["brand"] = str(card["brand"])
    categories = card.get("categories")
    parts = categories if isinstance(categories, list) else str(categories or "").split(",")
    if parts and str(parts[-1]).strip():
        found["category"] = unescape(str(parts[-1]).strip())
    return found


def _reviews(folder: Path) -> Ratings:
    """One pool of items a category: candidates are of the target's own."""
    items: dict[str, Item] = {}
    users = []
    for name in ("training.jsonl", "validation.jsonl"):
        path = folder / name
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.is_file() else (), 1):
            try:
                row = json.loads(line)
                steps = [*row["history"], row["heldout"]]
                for step in steps:
                    items[step["parent_asin"]] = _product(row["category"], step["product"])
                times = tuple(datetime.fromtimestamp(s["timestamp_ms"] / 1000, UTC) for s in steps[:-1])
                ids = tuple(step["parent_asin"] for step in steps)
                users.append(User(id=f"{row['user_id']}/{row['category']}", history=ids[:-1], target=ids[-1], at=times))
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{path}, line {number}: {type(error).__name__}: {error}") from None
    return _known(folder.name, items, [user for user in users if user.target not in user.history])


def _product(category: str, product: Mapping[str, object]) -> Item:
    attributes: dict[str, Value] = {"category": category.replace("_", " ")}
    if product.get("brand"):
        attributes["brand"] = str(product["brand"])
    price = product.get("price")
    if isinstance(price, int | float):
        attributes |= {"price": float(price), "currency": "USD"}
    return Item(title=unescape(str(product.get("title") or "")), attributes=attributes)


def _known(name: str, items: Mapping[str, Item], users: list[User]) -> Ratings:
    return Ratings(name=name, items=items, users=tuple(users), known=tuple(user.history for user in users))


def _listed(path: Path, found: Ratings, negatives: int) -> tuple[User, ...]:
    """The first ``negatives`` of a user's list that are neither target nor history."""
    users = {user.id: user for user in found.users}
    chosen = []
    for number, row in _rows(path, 2):
        user = users.get(row[0])
        if user is None:
            raise InputError(f"{path}, line {number}: user {row[0]} is not in histories.tsv")
        others = [
            id_ for id_ in row[1].split() if id_ in found.items and id_ != user.target and id_ not in user.history
        ]
        chosen.append(replace(user, candidates=_shuffled(user, others[:negatives])))
    return tuple(chosen)


def _drawn(found: Ratings, kind: str, negatives: int, seed: int) -> tuple[User, ...]:
    """Of the target's own category where items have one. popular: drawn as often as an item is chosen."""
    counts: dict[str, int] = {}
    for history in found.known:
        for id_ in history:
            counts[id_] = counts.get(id_, 0) + 1
    pools: dict[Value, list[str]] = {}
    whole = len({item.attributes.get("category") for item in found.items.values()}) > 100
    for id_, item in found.items.items():
        pools.setdefault("" if whole else item.attributes.get("category", ""), []).append(id_)
    chosen = []
    for user in found.users:
        category = "" if whole else found.items[user.target].attributes.get("category", "")
        pool = [id_ for id_ in pools[category] if id_ != user.target and id_ not in user.history]
        rng = random.Random(f"{seed}/{user.id}")
        if kind == "popular":
            pool = sorted(pool, key=lambda id_: rng.random() ** (1 / max(counts.get(id_, 0), 1e-9)), reverse=True)
            others = pool[:negatives]
        else:
            others = rng.sample(pool, min(negatives, len(pool)))
        if others:
            chosen.append(replace(user, candidates=_shuffled(user, others)))
    return tuple(chosen)


def _shuffled(user: User, others: list[str]) -> tuple[str, ...]:
    return tuple(sorted((*others, user.target), key=lambda id_: content_hash(user.id, id_)))


def _rows(path: Path, columns: int) -> Iterator[tuple[int, list[str]]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                row = line.rstrip("\n").split("\t")
                if len(row) != columns:
                    raise InputError(f"{path}, line {number}: {len(row)} columns, {columns} are wanted")
                yield number, row
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
