"""The bundled sample of the archive, and how it is cut in time."""

from importlib import resources
from pathlib import Path

from afterwit.errors import MissingExtra, StoreError

_SHARE = 0.75


def sample() -> Path:
    """Real headline tests of the Upworthy Research Archive (CC BY 4.0; see data/ATTRIBUTION.md)."""
    return Path(str(resources.files("afterwit") / "data" / "upworthy_sample.parquet"))


def split(path: Path, folder: Path) -> tuple[Path, Path]:
    """history.parquet and future.parquet: the tests of the earlier three quarters, and those that came later."""
    try:
        import pyarrow.compute as compute
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtra("pyarrow", "events") from None
    table = parquet.read_table(path)
    first = table.group_by("test_id").aggregate([("created_at", "min")])
    cut = sorted(first["created_at_min"].to_pylist())[int(_SHARE * first.num_rows)]
    of_test = dict(zip(first["test_id"].to_pylist(), first["created_at_min"].to_pylist(), strict=True))
    early = [of_test[test] < cut for test in table["test_id"].to_pylist()]
    paths = folder / "history.parquet", folder / "future.parquet"
    try:
        parquet.write_table(table.filter(early), paths[0])
        parquet.write_table(table.filter(compute.invert(early)), paths[1])
    except OSError as error:
        raise StoreError(f"the sample cannot be written to {folder}: {error.strerror}") from None
    return paths
