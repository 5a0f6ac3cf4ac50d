"""Logged recommendations of two policies from Parquet files (Saito, Aihara, Matsutani & Narita 2021)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from afterwit.credit.items import Floats, Ints
from afterwit.errors import InputError, MissingExtra

POLICIES = ("random", "bts")
_COLUMNS = ("item_id", "position", "click", "propensity_score")


@dataclass(frozen=True, kw_only=True, eq=False)
class Log:
    """One row an item shown, shape (n,). item, position: codes from 0. click: 0 or 1. propensity: with what chance
    the policy that wrote the log shows this item at this position, in (0, 1]."""

    item: Ints
    position: Ints
    click: Floats
    propensity: Floats

    def __len__(self) -> int:
        return len(self.item)


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """logs: policy → log, of the same items and positions. sources: file name → path."""

    name: str
    items: int
    positions: int
    logs: Mapping[str, Log]
    paths: Mapping[str, Path]


def load(folder: Path) -> tuple[Campaign, ...]:
    """Every campaign that ``folder`` holds both logs of, by name.

    Raises InputError where there is none, or a file is broken or holds impossible figures; MissingExtra.
    """
    names = sorted(path.stem.removeprefix("random_") for path in folder.glob("random_*.parquet"))
    # The features of a campaign's items lie beside its logs, as random_NAME_items.parquet.
    names = [name for name in names if (folder / f"bts_{name}.parquet").is_file() and not name.endswith("_items")]
    if not names:
        raise InputError(f"{folder} holds no campaign: give a folder with random_NAME.parquet and bts_NAME.parquet")
    return tuple(_campaign(folder, name) for name in names)


def _campaign(folder: Path, name: str) -> Campaign:
    paths = {policy: folder / f"{policy}_{name}.parquet" for policy in POLICIES}
    read = {policy: _columns(path) for policy, path in paths.items()}
    items, positions = (
        np.unique(np.concatenate([columns[i] for columns in read.values()])) for i in range(2)
    )  # codes that mean the same in both logs
    logs = {
        policy: Log(
            item=np.searchsorted(items, item).astype(np.int64),
            position=np.searchsorted(positions, position).astype(np.int64),
            click=click,
            propensity=propensity,
        )
        for policy, (item, position, click, propensity) in read.items()
    }
    return Campaign(name=name, items=len(items), positions=len(positions), logs=logs, paths=paths)


def _columns(path: Path) -> tuple[Floats, Floats, Floats, Floats]:
    table = _table(path)
    try:
        item, position, click, propensity = (
            np.array([np.nan if v is None else v for v in table[name].to_pylist()], dtype=np.float64)
            for name in _COLUMNS
        )
    except (TypeError, ValueError) as error:
        raise InputError(f"{path} holds figures of another type: {error}") from None
    if not len(item):
        raise InputError(f"{path} holds no rows: give a log with rows in it")
    known = np.isfinite(item) & np.isfinite(position) & np.isin(click, (0, 1))
    wrong = np.flatnonzero(~(known & (propensity > 0) & (propensity <= 1)))
    if len(wrong):
        i = int(wrong[0])
        raise InputError(
            f"{path}, row {i + 1}: item {item[i]:g}, position {position[i]:g}, click {click[i]:g}, propensity "
            f"{propensity[i]:g} cannot be: clicks are 0 or 1 and propensities above 0 and at most 1"
        )
    return item, position, click, propensity


def _table(path: Path) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("pyarrow", "events") from None
    try:
        have = pq.read_schema(path).names
        lacking = [name for name in _COLUMNS if name not in have]
        if lacking:
            raise InputError(f"{path} lacks the column {lacking[0]!r} (it has {', '.join(have[:12])})")
        return pq.read_table(path, columns=list(_COLUMNS))
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}") from None
