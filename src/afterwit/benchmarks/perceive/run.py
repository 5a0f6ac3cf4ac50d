"""Item cards from the picture, the text and the metadata of a page, and from all of them, against what people read."""

import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from afterwit.benchmarks.perceive.metrics import MATCHES, RESAMPLES, Counts, count, scores
from afterwit.benchmarks.perceive.pages import Page, pages, references, truth_file
from afterwit.errors import AfterwitError, UsageError
from afterwit.evaluate.record import EvaluationRecord, sha256_of
from afterwit.model import Interval
from afterwit.model.page import ItemCard, Sense
from afterwit.perceive.card import text
from afterwit.perceive.fusion import Weights, fused
from afterwit.perceive.look import script_of, see
from afterwit.perceive.metadata.card import read as structured
from afterwit.perceive.ports import Browser, Ocr
from afterwit.perceive.reading import Reading
from afterwit.ports import Progress

_ONLY_WHERE_TOLD = frozenset({"currency", "brand"})
"""The truth leaves these out on pages that show them, so a value there is neither right nor wrong."""

NOTES = (
    "pages are shown without the network: style sheets and pictures that were not saved with them are missing",
    "price and availability are scored on all pages; currency and brand on those whose truth has them",
    "an availability that is not told counts as in stock, as the benchmark has it",
    "halves are by a hash of the page's name: rules and weights were developed on one, @held_out is the other",
)

_POLICIES: Mapping[str, tuple[Sense, ...]] = {
    "fused": ("metadata", "text", "screen"),
    "fused:metadata+text": ("metadata", "text"),
    "ocr": ("screen",),
    "html": ("text",),
    "structured": ("metadata",),
}
"""Row → the senses that it has."""

Told = Mapping[str, str | None]


def score(
    folder: Path,
    *,
    browser: Browser | None,
    readers: Sequence[Ocr],
    cache: Path | None = None,
    most: int | None = None,
    seed: int = 13,
    weights: Weights | None = None,
    progress: Progress | None = None,
) -> EvaluationRecord:
    """browser, readers: of what is seen, which is left out without them. most: pages. weights: of the fusion, if not
    its own. A page that a sense fails on tells nothing by it, and is counted. Raises InputError."""
    began = time.perf_counter()
    found = pages(folder)[:most]
    taken = taken_in(found, browser=browser, readers=readers, cache=cache, progress=progress)
    told: dict[str, dict[str, Told]] = {}
    for page in found:
        readings = taken.readings[page.name]
        for name, senses in _POLICIES.items():
            chosen = [reading for reading in readings if reading.sense in senses]
            if len(chosen) == 1 == len(senses):
                told.setdefault(name, {})[page.name] = _told(chosen[0].card)
            elif len(senses) > 1 and (len(senses) < 3 or taken.looked):
                told.setdefault(name, {})[page.name] = _told(fused(chosen, by=weights))
    told = {name: told[name] for name in _POLICIES if name in told}
    told |= {f"reference:{name}": dict(given) for name, given in references(folder).items()}
    return EvaluationRecord(
        benchmark="remem:perceive",
        version=version("afterwit"),
        seed=seed,
        seconds=time.perf_counter() - began,
        data={"truth": sha256_of(truth_file(folder)), "html": _hash(found)},
        policies={
            name: {
                **figures(found, given, seed=seed, scripts=taken.scripts),
                **_pace(taken.seconds.get(name, []), seed),
            }
            for name, given in told.items()
        },
        counts={"pages": len(found), **taken.failed, **_counted(taken.scripts.values())},
        notes=NOTES if not taken.looked else (*NOTES, f"read by {', '.join(one.name for one in readers)}"),
    )


def figures(
    found: Sequence[Page], told: Mapping[str, Told], *, seed: int, scripts: Mapping[str, str] | None = None
) -> dict[str, Interval]:
    """``FIELD_f1`` and so on over all pages, ``@develop`` and ``@held_out`` over each half, ``@script:NAME`` over the
    pages in a script."""
    scripts = scripts or {}
    parts = ("", "@develop", "@held_out", *(f"@script:{name}" for name in sorted(set(scripts.values()))))
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
        for part in parts:
            chosen = [
                one for page, one in counted if part in ("", f"@{page.half}", f"@script:{scripts.get(page.name)}")
            ]
            for metric, figure in scores(chosen, seed=seed).items():
                known[f"{field}_{metric}{part}"] = figure
    return known


@dataclass(frozen=True, kw_only=True)
class Taken:
    """Pages as each sense took them. scripts: of their text. looked: whether any was seen."""

    readings: Mapping[str, Sequence[Reading]]
    scripts: Mapping[str, str]
    seconds: Mapping[str, Sequence[float]]
    failed: Mapping[str, int]
    looked: bool


def taken_in(
    found: Sequence[Page],
    *,
    browser: Browser | None,
    readers: Sequence[Ocr],
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Taken:
    readings: dict[str, list[Reading]] = {}
    seconds: dict[str, list[float]] = {}
    failed: dict[str, int] = {}
    scripts: dict[str, str] = {}
    with TemporaryDirectory(prefix="afterwit-") as scratch:
        for place, page in enumerate(found, start=1):
            html = page.html()
            scripts[page.name] = script_of(html)
            known = readings.setdefault(page.name, [])
            for name, way in (("structured", structured), ("html", text)):
                started = time.perf_counter()
                known.append(way(html))
                seconds.setdefault(name, []).append(time.perf_counter() - started)
            if browser is not None and readers:
                started = time.perf_counter()
                try:
                    sight = see(browser(_saved(Path(scratch), page.name, html)), readers, cache)
                except AfterwitError as error:
                    why = "unread" if isinstance(error, UsageError) and "script" in str(error) else "failed"
                    failed[f"{why}:ocr"] = failed.get(f"{why}:ocr", 0) + 1
                else:
                    known.append(sight.reading)
                    if not sight.cached:
                        seconds.setdefault("ocr", []).append(time.perf_counter() - started)
            if progress is not None:
                progress(place, len(found))
    looked = any(reading.sense == "screen" for known in readings.values() for reading in known)
    return Taken(readings=readings, scripts=scripts, seconds=seconds, failed=failed, looked=looked)


def _saved(scratch: Path, name: str, html: str) -> str:
    """In a folder of its own, which is all that a file may load from."""
    place = scratch / name / "page.html"
    place.parent.mkdir()
    place.write_text(html, encoding="utf-8", errors="replace")
    return str(place)


def _counted(scripts: Iterable[str]) -> dict[str, int]:
    return {f"script:{name}": count for name, count in sorted(Counter(scripts).items())}


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
