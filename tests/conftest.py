"""Servers that several files of tests use."""

from collections.abc import Iterator

import pytest

from postgres_cases import MISSING, PROGRAMS, Cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if PROGRAMS is None:
        pytest.skip(MISSING)
    made = Cluster(tmp_path_factory.mktemp("pg"))
    yield made
    made.stop()
