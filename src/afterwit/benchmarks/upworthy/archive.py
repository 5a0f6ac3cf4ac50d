"""Headline tests from a Parquet file, as tasks that choose among headlines."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from afterwit.credit.items import Floats, Objects, Times
from afterwit.errors import InputError, MissingExtra, StoreError
from afterwit.evaluate.tasks import Tasks

_COLUMNS = ("test_id", "created_at", "image_id", "headline", "impressions", "clicks")
WINDOW = np.timedelta64(7, "D")
"""After which an aggregated outcome counts as available, as in the bundled mapping for headlines."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Archive:
    """One row an arm, in the order of the file; shape (n,). created_at: UTC."""

    tests: Objects
    images: Objects
    headlines: Objects
    created_at: Times
    impressions: Floats
    clicks: Floats

    @staticmethod
    def read(path: Path) -> "Archive":
        """Raises InputError where the file is missing, broken, lacks a column or holds impossible counts."""
        table = _table(path, _COLUMNS)
        columns = {name: table[name].to_pylist() for name in ("test_id", "image_id", "headline")}
        try:
            shown, clicked = (table[name].to_numpy().astype(np.float64) for name in ("impressions", "clicks"))
            created = _times(table["created_at"])
        except (TypeError, ValueError) as error:
            raise InputError(f"{path} holds counts or times of another type: {error}") from None
        if not len(created):
            raise InputError(f"{path} holds no rows: give a file with tests in it")
        lacking = np.flatnonzero(np.isnat(created) | np.array([test is None for test in columns["test_id"]]))
        if len(lacking):
            raise InputError(f"{path}, row {lacking[0] + 1} lacks its test_id or created_at: mend or drop it")
        wrong = np.flatnonzero(~((clicked >= 0) & (shown >= 0) & (clicked <= shown)))
        if len(wrong):
            i = int(wrong[0])
            raise InputError(
                f"{path}, row {i + 1}: {clicked[i]:g} clicks of {shown[i]:g} impressions cannot be: mend the row"
            )
        return Archive(
            tests=_objects(columns["test_id"]),
            images=_objects(["" if image is None else image for image in columns["image_id"]]),
            headlines=_objects(["" if text is None else text for text in columns["headline"]]),
            created_at=created,
            impressions=shown,
            clicks=clicked,
        )

    def tasks(self, ids: Mapping[tuple[str, str, str], str] | None = None) -> Tasks:
        """One task a test and image with two or more headlines, by creation; arms with the same headline are summed.

        ids: (test, image, headline) → delivery id, where the candidates are deliveries that a ledger knows.
        """
        triples = list(zip(self.tests, self.images, self.headlines, strict=True))
        arms = list(dict.fromkeys(triples))
        place = {arm: i for i, arm in enumerate(arms)}
        of = np.array([place[triple] for triple in triples], dtype=np.int64)
        n = len(arms)
        shown, clicked = (np.bincount(of, weights=column, minlength=n) for column in (self.impressions, self.clicks))
        created = np.full(n, np.datetime64("9999-01-01", "us"))
        np.minimum.at(created, of, self.created_at)
        groups: dict[tuple[str, str], list[int]] = {}
        for i, (test, image, _) in enumerate(arms):
            groups.setdefault((test, image), []).append(i)
        kept = [(min(created[rows]), name, rows) for name, rows in groups.items() if len(rows) >= 2]
        kept.sort(key=lambda group: (group[0], group[1]))
        rows = np.array([i for _, _, members in kept for i in members], dtype=np.int64)
        names = [name for _, name, _ in kept]
        tests = {test: i for i, test in enumerate(dict.fromkeys(test for test, _ in names))}
        starts = np.array([at for at, _, _ in kept], dtype="datetime64[us]")
        return Tasks(
            ids=_objects([(ids or {}).get(arms[i], " · ".join(arms[i])) for i in rows]),
            texts=_objects([arms[i][2] for i in rows]),
            exposures=shown[rows].astype(np.float64),
            engagements=clicked[rows].astype(np.float64),
            contexts={},
            task=np.repeat(np.arange(len(kept)), [len(members) for _, _, members in kept]).astype(np.int64),
            names=_objects([f"{test} · {image or 'no image'}" for test, image in names]),
            experiments=np.array([tests[test] for test, _ in names], dtype=np.int64),
            created_at=starts,
            available_at=np.asarray(starts + WINDOW, dtype="datetime64[us]"),
        )


def split(path: Path, folder: Path, *, share: float = 0.25, at: datetime | None = None) -> tuple[Path, Path]:
    """Two files in ``folder``, all columns: the earlier tests, and the last ``share`` of them (or those from ``at``).

    A test is never cut in two. Raises InputError where one side would be empty, StoreError where
    the folder cannot be written.
    """
    table = _table(path, ())
    import pyarrow as pa  # there, or the line above would have said so
    import pyarrow.parquet as pq

    created, tests = _times(table["created_at"]), table["test_id"].to_pylist()
    first: dict[str, np.datetime64] = {}
    for test, moment in zip(tests, created, strict=True):
        first[test] = min(first.get(test, moment), moment)
    starts = np.sort(np.array(list(first.values()), dtype="datetime64[us]"))
    border = np.datetime64(at.replace(tzinfo=None), "us") if at is not None else starts[int((1 - share) * len(starts))]
    late = np.array([first[test] >= border for test in tests])
    if late.all() or not late.any():
        raise InputError(f"{path} has no tests on one side of {border}Z: choose another time to split at")
    paths = folder / "history.parquet", folder / "future.parquet"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for target, rows in zip(paths, (~late, late), strict=True):
            pq.write_table(table.filter(pa.array(rows)), target, compression="zstd")
    except OSError as error:
        raise StoreError(f"the two files cannot be written to {folder}: {error.strerror or error}") from None
    return paths


def _table(path: Path, columns: tuple[str, ...]) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("pyarrow", "events") from None
    if not path.is_file():
        raise InputError(f"{path} is not there: give the Parquet file of the archive")
    try:
        have = pq.read_schema(path).names
        missing = [name for name in (columns or _COLUMNS) if name not in have]
        if missing:
            raise InputError(f"{path} lacks the column {missing[0]!r} (it has {', '.join(have)})")
        return pq.read_table(path, columns=list(columns) or None)
    except (pa.ArrowInvalid, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path} cannot be read as Parquet: {reason}") from None


def _times(column: Any) -> Times:
    """UTC, whether the file's times carry a zone or, as in the archive, do not."""
    times: Times = column.to_numpy().astype("datetime64[us]")
    return times


def _objects(values: list[str]) -> Objects:
    column: Objects = np.empty(len(values), dtype=np.object_)
    column[:] = values
    return column
