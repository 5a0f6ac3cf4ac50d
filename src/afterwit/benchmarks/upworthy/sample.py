"""The bundled sample of the archive."""

from importlib import resources
from pathlib import Path

from afterwit.benchmarks.upworthy.archive import split

__all__ = ["sample", "split"]


def sample() -> Path:
    """Real headline tests of the Upworthy Research Archive (CC BY 4.0; see data/ATTRIBUTION.md)."""
    return Path(str(resources.files("afterwit") / "data" / "upworthy_sample.parquet"))
