"""A small controlled world, for tests: two months of log, three rounds."""

import pytest

from afterwit.benchmarks.world.parameters import Parameters
from afterwit.benchmarks.world.rounds import Stage
from afterwit.benchmarks.world.season import season
from afterwit.ports import HashEmbedder
from afterwit.store.segments import Segments

SMALL = """
[contexts]
channels = ["push", "email"]
benefits = ["gift"]
audiences = ["new", "loyal"]
placements = ["top", "side"]
[decisions]
slots = 5
values = 3
high = 0.6
low = 0.3
[log]
items = 240
impressions = 1500
[shift]
round = 2
[memory]
warm_up = 2
rounds = 3
tasks = 4
capacity = 16
[requests]
count = 4
plays = 6
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Parameters:
    path = tmp_path_factory.mktemp("world") / "small.toml"
    path.write_text(SMALL)
    return Parameters.load(path)


@pytest.fixture(scope="module")
def stage(small: Parameters, tmp_path_factory: pytest.TempPathFactory) -> Stage:
    made = season(small, 13, Segments(tmp_path_factory.mktemp("log")), immature=True)
    return Stage.of(made, HashEmbedder())
