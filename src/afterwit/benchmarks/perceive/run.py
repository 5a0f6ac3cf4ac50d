"""Three ways to an item card, from the picture, the text and the metadata of a page, against what people read on it."""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from afterwit.benchmarks.perceive.metrics import MATCHES, RESAMPLES, Counts, count, scores
from afterwit.benchmarks.perceive.pages import Page, pages, references, truth_file
from afterwit.errors import AfterwitError
from afterwit.evaluate.record import EvaluationRecord, sha256_of
from afterwit.model import Interval
from afterwit.model.page import ItemCard
from afterwit.perceive.card import card
from afterwit.perceive.html import visible
from afterwit.perceive.look import see
from afterwit.perceive.metadata import structured
from afterwit.perceive.ports import Browser, Ocr
from afterwit.ports import Progress

_ONLY_WHERE_TOLD = frozenset({"currency", "brand"})
"""The truth leaves these out on pages that show them, so a value there is neither right nor wrong."""

NOTES = (
    "pages are shown without the network: style sheets and pictures that were not saved with them are missing",
    "price and availability are scored on all pages; currency and brand on those whose truth has them",
    "an availability that is not told counts as in stock, as the benchmark has it",
    "halves are by a hash of the page's name: rules were developed on one, @held_out is the other",
)

Told = Mapping[str, str | None]


def score(
    folder: Path,
    *,
    browser: Browser | None,
    ocr: Ocr | None,
    cache: Path | None = None,
    most: int | None = None,
    seed: int = 13,
    progress: Progress | None = None,
) -> EvaluationRecord:
    """browser, ocr: of the policy ``ocr``, which is left out without them. most: pages. A page that a policy fails on
    tells nothing, and is counted. Raises InputError."""
    began = time.perf_counter()
    found = pages(folder)[:most]
    told: dict[str, dict[str, Told]] = {"html": {}, "structured": {}}
    seconds: dict[str, list[float]] = {}
    counts = {"pages": len(found)}
    with TemporaryDirectory(prefix="afterwit-") as scratch:
        ways: dict[str, Callable[[Page], tuple[ItemCard, bool]]] = {"html": _text, "structured": _metadata}
        if browser is not None and ocr is not None:
            ways = {"ocr": _Seen(browser, ocr, cache, Path(scratch)), **ways}
        for place, page in enumerate(found, start=1):
            for name, way in ways.items():
                started = time.perf_counter()
                try:
                    item, cached = way(page)
                except AfterwitError:
                    counts[f"failed:{name}"] = counts.get(f"failed:{name}", 0) + 1
                    continue
                told.setdefault(name, {})[page.name] = _told(item)
                if not cached:
                    seconds.setdefault(name, []).append(time.perf_counter() - started)
            if progress is not None:
                progress(place, len(found))
    told = {name: told[name] for name in ways if name in told}
    told |= {f"reference:{name}": dict(given) for name, given in references(folder).items()}
    return EvaluationRecord(
        benchmark="remem:perceive",
        version=version("afterwit"),
        seed=seed,
        seconds=time.perf_counter() - began,
        data={"truth": sha256_of(truth_file(folder)), "html": _hash(found)},
        policies={
            name: {**figures(found, given, seed=seed), **_pace(seconds.get(name, []), seed)}
            for name, given in told.items()
        },
        counts=counts,
        notes=NOTES if browser is None or ocr is None else (*NOTES, f"read by {ocr.name} in {browser.name}"),
    )


def figures(found: Sequence[Page], told: Mapping[str, Told], *, seed: int) -> dict[str, Interval]:
    """``FIELD_f1`` and so on over all pages, ``@develop`` and ``@held_out`` over each half."""
    known: dict[str, Interval] = {}
    for field, match in MATCHES.items():
        counted: list[tuple[Page, Counts]] = []
        for page in found:
            true = page.truth.get(field, ())
            if true or field not in _ONLY_WHERE_TOLD:
                given = told.get(page.name, {}).get(field)
                if given is None and field == "availability" and page.name in told:
                    given = "InStock"
                counted.append((page, count(true, None if given is None else str(given), match)))
        for part in ("", "@develop", "@held_out"):
            chosen = [one for page, one in counted if not part or part == f"@{page.half}"]
            for metric, figure in scores(chosen, seed=seed).items():
                known[f"{field}_{metric}{part}"] = figure
    return known


class _Seen:
    def __init__(self, browser: Browser, ocr: Ocr, cache: Path | None, scratch: Path) -> None:
        self._browser, self._ocr, self._cache, self._scratch = browser, ocr, cache, scratch

    def __call__(self, page: Page) -> tuple[ItemCard, bool]:
        """In a folder of its own, which is all that a file may load from."""
        place = self._scratch / page.name / "page.html"
        place.parent.mkdir()
        place.write_text(page.html(), encoding="utf-8", errors="replace")
        sight = see(str(place), self._browser, self._ocr, self._cache)
        return sight.card, sight.cached


def _text(page: Page) -> tuple[ItemCard, bool]:
    return card(visible(page.html())), False


def _metadata(page: Page) -> tuple[ItemCard, bool]:
    return structured(page.html()), False


def _told(item: ItemCard) -> Told:
    gone = "OutOfStock" if item.availability == "out of stock" else None
    return {
        "price": None if item.price is None else str(item.price),
        "currency": item.currency,
        "brand": item.brand,
        "availability": gone,
        "OutOfStock": gone,
    }


def _pace(seconds: Sequence[float], seed: int) -> dict[str, Interval]:
    """Seconds a page, of those that were not in the cache."""
    if not seconds:
        return {}
    values = np.array(seconds)
    means = values[np.random.default_rng(seed).integers(0, len(values), size=(RESAMPLES, len(values)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return {"seconds": Interval(value=float(values.mean()), low=float(low), high=float(high), n=len(values))}


def _hash(found: Sequence[Page]) -> str:
    digest = hashlib.sha256()
    for page in found:
        digest.update(f"{page.name} {sha256_of(page.path)}\n".encode())
    return f"sha256:{digest.hexdigest()}"
