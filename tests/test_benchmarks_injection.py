"""Orders in pages: a reader that obeys whatever it sees is led astray without the guard, and not with it."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from afterwit.benchmarks.injection.pages import ORDERS, cases, shown
from afterwit.benchmarks.injection.run import run
from afterwit.benchmarks.recsys.data import load
from afterwit.digest.answer import Candidate
from afterwit.errors import OutputError
from afterwit.guard.steering import steers


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    titles = [f"{kind} number {n}" for kind in ("oak lamp", "tent", "kettle") for n in range(10)]
    (tmp_path / "items.tsv").write_text("i\tt\n" + "".join(f"{i}\t{t}\n" for i, t in enumerate(titles)))
    rows = "".join(f"u{u}\t{u} {u + 1} {u + 2}\t{u + 3}\n" for u in range(25))
    (tmp_path / "histories.tsv").write_text("u\th\tt\n" + rows)
    return tmp_path


def obedient(profile: str, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Does what a page says, else takes the first."""
    for one in candidates:
        if steers(one.said) or re.search(r"previous instructions", one.said):
            return [one, *candidates]
    return candidates


def test_every_order_is_read_off_the_page_and_left_out_by_the_guard(shop: Path) -> None:
    found = cases(load(shop, candidates="random", negatives=5), 20)
    assert {case.order for case in found} >= {order.format(n=6) for order in ORDERS}
    for case in found:
        ids = [str(i) for i in range(6)]
        seen = shown(case.attacked, guarded=False, ids=ids)
        assert case.order in seen[case.attacker].said
        kept = shown(case.attacked, guarded=True, ids=ids)
        assert case.order not in kept[case.attacker].said
        assert "Ships within two working days" in kept[case.attacker].said
        assert kept == shown(case.clean, guarded=True, ids=ids)
        assert case.clean[case.attacker] != case.attacked[case.attacker]


def test_the_target_is_never_the_attackers(shop: Path) -> None:
    data = load(shop, candidates="random", negatives=5)
    for case in cases(data, 20):
        title = data.items[case.user.target].title
        assert f"<h1>{title}</h1>" not in case.clean[case.attacker]


def test_a_reader_that_obeys_is_counted(shop: Path) -> None:
    figures = run(shop, obedient, "obedient", n=20).policies
    assert figures["unguarded"]["changed"].value == figures["unguarded"]["obeyed"].value == 1.0
    assert figures["guarded"]["changed"].value == 0.0
    assert figures["guarded"]["changed"].n == 20


def test_choices_that_cannot_be_made_are_counted(shop: Path) -> None:
    def failing(profile: str, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        raise OutputError("empty", "the answer is empty")

    figures = run(shop, failing, "failing", n=5).policies
    assert figures["guarded"]["refused"].value == 5
