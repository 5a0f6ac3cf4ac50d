"""Data of the paper's kind from any review log (ReMem): ratings of 4 and above, each user and item once, k-core, the
last item of each user held out by time, candidates random, popular and hard, and item pages with advertisements.

A review is a JSON object a line: user, item, rating, at (seconds or milliseconds since 1970, or ISO), as exports name
them too (user_id, parent_asin or asin, timestamp). An item: item, title and what its page shows: brand, price,
currency, description, rating. The folder that is written is what `evaluate recsys` reads.
"""

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from afterwit.benchmarks.recsys.pages import item_page
from afterwit.errors import InputError
from afterwit.ports import Embedder

_NAMES = {
    "user": ("user", "user_id", "reviewerID"),
    "item": ("item", "parent_asin", "asin", "item_id"),
    "rating": ("rating", "overall"),
    "at": ("at", "timestamp", "timestamp_ms", "unixReviewTime"),
}


@dataclass(frozen=True, kw_only=True)
class BuildRules:
    """core: k of the k-core. liked: the least rating that counts as chosen. candidates: written a user, the target not
    among them. advertisements: on a page."""

    core: int = 5
    liked: float = 4.0
    candidates: int = 99
    advertisements: int = 3
    seed: int = 13

    def __post_init__(self) -> None:
        if self.core < 1 or self.candidates < 1 or self.advertisements < 0:
            raise InputError("core and candidates must be at least 1, advertisements at least 0")


@dataclass(frozen=True, kw_only=True)
class Built:
    reviews: int
    liked: int
    users: int
    items: int
    pages: int


def build(
    reviews: Path,
    items: Path,
    out: Path,
    embedder: Embedder,
    *,
    rules: BuildRules = BuildRules(),
    pages: bool = True,
    done: Callable[[int], None] | None = None,
) -> Built:
    """Writes the folder, whole or not at all. Raises InputError for a line that cannot be read, and where the k-core
    leaves nobody. done: pages written."""
    known = _items(items)
    total, chosen = 0, dict[str, dict[str, float]]()
    for user, item, rating, at in _reviews(reviews):
        total += 1
        if rating >= rules.liked and item in known:
            before = chosen.setdefault(user, {}).get(item)
            chosen[user][item] = at if before is None else min(before, at)
    liked = sum(map(len, chosen.values()))
    histories = _sequences(_core(chosen, rules.core))
    if not histories:
        raise InputError(f"nobody is left of {len(chosen)} users with {rules.core} items that {rules.core} users chose")
    used = sorted({item for history in histories.values() for item in history})
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(mkdtemp(prefix=".recsys-", dir=out.parent))
    try:
        _tables(partial, histories, {item: known[item] for item in used})
        for name, lists in _candidates(histories, used, known, embedder, rules).items():
            lines = (f"{user}\t{' '.join(found)}\n" for user, found in lists.items())
            (partial / f"candidates_{name}.tsv").write_text("".join(lines), encoding="utf-8")
        if pages:
            _pages(partial / "pages", used, known, rules, done)
        if out.exists():
            raise InputError(f"{out} is there already: give a new folder")
        partial.rename(out)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return Built(reviews=total, liked=liked, users=len(histories), items=len(used), pages=len(used) if pages else 0)


def _core(chosen: Mapping[str, Mapping[str, float]], k: int) -> dict[str, dict[str, float]]:
    """Users and items with fewer than k choices leave, until none does."""
    left = {user: dict(items) for user, items in chosen.items()}
    while True:
        counts = Counter(item for items in left.values() for item in items)
        kept = {user: {item: at for item, at in items.items() if counts[item] >= k} for user, items in left.items()}
        kept = {user: items for user, items in kept.items() if len(items) >= k}
        if kept == left:
            return kept
        left = kept


def _sequences(chosen: Mapping[str, Mapping[str, float]]) -> dict[str, list[str]]:
    """User → items by time, ties by id; at least two, as the last is what is asked for."""
    found = {user: sorted(items, key=lambda item: (items[item], item)) for user, items in sorted(chosen.items())}
    return {user: items for user, items in found.items() if len(items) >= 2}


def _candidates(
    histories: Mapping[str, Sequence[str]],
    used: Sequence[str],
    known: Mapping[str, Mapping[str, Any]],
    embedder: Embedder,
    rules: BuildRules,
) -> dict[str, dict[str, list[str]]]:
    """random: uniform. popular: drawn as often as an item is chosen, targets left out. hard: nearest to the target by
    title."""
    counts = Counter(item for history in histories.values() for item in history[:-1])
    matrix = embedder([str(known[item]["title"]) for item in used])
    place = {item: i for i, item in enumerate(used)}
    found: dict[str, dict[str, list[str]]] = {"random": {}, "popular": {}, "hard": {}}
    for user, history in histories.items():
        own = set(history)
        pool = [item for item in used if item not in own]
        rng = random.Random(f"{rules.seed}/{user}")
        weighted = sorted(pool, key=lambda item: -(rng.random() ** (1 / (counts[item] + 1e-9))))
        near = matrix @ matrix[place[history[-1]]]
        hard = [used[i] for i in np.argsort(-near, kind="stable") if used[i] not in own]
        found["random"][user] = rng.sample(pool, min(rules.candidates, len(pool)))
        found["popular"][user] = weighted[: rules.candidates]
        found["hard"][user] = hard[: rules.candidates]
    return found


def _tables(folder: Path, histories: Mapping[str, Sequence[str]], items: Mapping[str, Mapping[str, Any]]) -> None:
    titles = "".join(f"{item}\t{' '.join(str(about['title']).split())}\n" for item, about in items.items())
    (folder / "items.tsv").write_text("item_id\ttitle\n" + titles, encoding="utf-8")
    rows = "".join(f"{user}\t{' '.join(history[:-1])}\t{history[-1]}\n" for user, history in histories.items())
    (folder / "histories.tsv").write_text("user_id\titems\tnext\n" + rows, encoding="utf-8")


def _pages(
    folder: Path,
    used: Sequence[str],
    known: Mapping[str, Mapping[str, Any]],
    rules: BuildRules,
    done: Callable[[int], None] | None,
) -> None:
    folder.mkdir()
    for count, item in enumerate(used, 1):
        rng = random.Random(f"{rules.seed}/{item}")
        others = [known[other] for other in rng.sample(used, min(rules.advertisements + 1, len(used))) if other != item]
        page = item_page(known[item], others[: rules.advertisements], rng)
        (folder / f"{_safe(item)}.html").write_text(page, encoding="utf-8")
        if done is not None:
            done(count)


def _safe(item: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in item)


def _reviews(path: Path) -> Iterator[tuple[str, str, float, float]]:
    for number, row in _lines(path):
        try:
            values = {name: next(row[key] for key in keys if key in row) for name, keys in _NAMES.items()}
            for name in ("user", "item"):
                if not str(values[name]).strip() or any(c.isspace() for c in str(values[name])):
                    raise ValueError(f"{name} {values[name]!r} is empty or holds a space")
            yield str(values["user"]), str(values["item"]), float(values["rating"]), _seconds(values["at"])
        except StopIteration:
            raise InputError(f"{path}, line {number}: user, item, rating and at are needed") from None
        except (ValueError, TypeError, OverflowError) as error:
            raise InputError(f"{path}, line {number}: {error}") from None


def _items(path: Path) -> dict[str, dict[str, Any]]:
    found = {}
    for number, row in _lines(path):
        id_ = next((str(row[key]) for key in _NAMES["item"] if row.get(key)), "")
        if not id_ or not str(row.get("title") or "").strip():
            raise InputError(f"{path}, line {number}: item and title are needed")
        found[id_] = row
    return found


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    row = json.loads(line)
                    if not isinstance(row, dict):
                        raise InputError(f"{path}, line {number}: not an object")
                    yield number, row
    except ValueError as error:
        raise InputError(f"{path}: not JSON Lines in UTF-8: {error}") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def _seconds(value: Any) -> float:
    if isinstance(value, str) and not value.replace(".", "", 1).isdigit():
        found = datetime.fromisoformat(value)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    number = float(value)
    return number / 1000 if number > 1e11 else number
