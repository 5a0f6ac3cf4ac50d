"""The trained references learn an order that counting cannot see."""

import sys

import numpy as np
import pytest

from afterwit.benchmarks.recsys.data import Item, Ratings, User
from afterwit.benchmarks.recsys.run import rank
from afterwit.benchmarks.recsys.trained import Kind, TrainRules, trained
from afterwit.errors import MissingExtra

ITEMS = 12


def ring() -> Ratings:
    """Everybody walks around a ring of items; where the walk goes next depends on its last step alone."""
    rows = [tuple(str((start + step) % ITEMS) for step in range(6)) for start in range(ITEMS) for _ in range(20)]
    every = tuple(str(i) for i in range(ITEMS))
    users = tuple(
        User(id=str(i), history=rows[20 * i], target=str((i + 6) % ITEMS), candidates=every) for i in range(ITEMS)
    )
    items = {str(i): Item(title=f"item {i}", attributes={}) for i in range(ITEMS)}
    return Ratings(name="ring", items=items, users=users, known=tuple(rows))


@pytest.mark.parametrize("kind", ["sasrec", "bert4rec"])
def test_they_learn_what_comes_next(kind: Kind) -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install 'afterwit[train]'")
    data, told = ring(), list[str]()
    scored = trained(data, kind, rules=TrainRules(epochs=25, batch=32, rate=5e-3), told=told.append)
    ranks = [rank(scored(user).scores, user.candidates.index(user.target)) for user in data.users]
    assert np.mean([r <= 1 for r in ranks]) >= 0.9
    assert told[0].startswith(f"{kind}: epoch 1, held-out loss")


def test_without_torch_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"pip install 'afterwit\[train\]'"):
        trained(ring(), "sasrec")
