"""Small references of two trained recommenders, for comparison alone: SASRec (Kang & McAuley 2018) and BERT4Rec (Sun et
al. 2019).

Both are transformers over item ids: SASRec predicts each next item under a causal mask, BERT4Rec items that are hidden.
Departures: a softmax over the batch's own items and 1,024 drawn ones, not one negative an item, dimension 64, two
layers of two heads, Adam at 1e-3, and early stopping on the last known item of every twentieth user, never on a target.
No text, no popularity.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from afterwit.benchmarks.recsys.comparators import Comparator, Scored
from afterwit.benchmarks.recsys.data import Ratings, User
from afterwit.errors import MissingExtra

Kind = Literal["sasrec", "bert4rec"]
_DRAWN = 1024


@dataclass(frozen=True, kw_only=True)
class TrainRules:
    """length: items of a history that are seen, the newest. patience: epochs without a better held-out loss."""

    dimension: int = 64
    layers: int = 2
    heads: int = 2
    dropout: float = 0.2
    length: int = 50
    batch: int = 256
    epochs: int = 40
    patience: int = 2
    rate: float = 1e-3
    hidden: float = 0.2  # share of items that BERT4Rec hides


def trained(
    data: Ratings,
    kind: Kind,
    *,
    rules: TrainRules = TrainRules(),
    seed: int = 13,
    told: Callable[[str], None] | None = None,
) -> Comparator:
    """Trains on all histories, targets left out. Raises MissingExtra without torch."""
    try:
        import torch
    except ImportError:
        raise MissingExtra("torch", "train") from None
    torch.manual_seed(seed)
    torch.set_num_threads(max(1, (os.cpu_count() or 2) // 2))  # as many as cores wait for one another, if others work
    places = {id_: i + 1 for i, id_ in enumerate(sorted(data.items))}  # 0 pads, the last hides
    rows = [[places[id_] for id_ in history] for history in data.known if len(history) >= 2]
    rng = np.random.default_rng(seed)
    rng.shuffle(rows)
    held, fitted = rows[::20], [row for i, row in enumerate(rows) if i % 20]
    model = _network(torch, len(places) + 2, rules, causal=kind == "sasrec")
    optimiser = torch.optim.Adam(model.parameters(), lr=rules.rate)
    best, waited, kept = float("inf"), 0, model.state_dict()
    for epoch in range(rules.epochs):
        model.train()
        order = rng.permutation(len(fitted))
        for start in range(0, len(order), rules.batch):
            batch = [fitted[i] for i in order[start : start + rules.batch]]
            loss = _loss(torch, model, *_examples(torch, batch, kind, rules, len(places) + 1, rng))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        loss = _held_out(torch, model, held, kind, rules, len(places) + 1)
        if told is not None:
            told(f"{kind}: epoch {epoch + 1}, held-out loss {loss:.4f}")
        if loss < best - 1e-3:
            best, waited, kept = loss, 0, {name: value.clone() for name, value in model.state_dict().items()}
        elif (waited := waited + 1) >= rules.patience:
            break
    model.load_state_dict(kept)
    model.eval()

    def scored(user: User) -> Scored:
        history = [places[id_] for id_ in user.history]
        with torch.no_grad():
            state = model(_inputs(torch, [history], kind, rules, len(places) + 1))[0, -1]
            scores = model.items.weight[[places[id_] for id_ in user.candidates]] @ state
        return Scored(scores=scores.numpy().astype(np.float64), tokens=0)

    return scored


def _network(torch: Any, items: int, rules: TrainRules, *, causal: bool) -> Any:
    class Network(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.items = torch.nn.Embedding(items, rules.dimension, padding_idx=0)
            torch.nn.init.normal_(self.items.weight, std=0.02)
            self.places = torch.nn.Parameter(0.02 * torch.randn(rules.length + 1, rules.dimension))
            layer = torch.nn.TransformerEncoderLayer(
                rules.dimension, rules.heads, 4 * rules.dimension, rules.dropout, batch_first=True, norm_first=True
            )
            self.layers = torch.nn.TransformerEncoder(layer, rules.layers, enable_nested_tensor=False)
            self.norm = torch.nn.LayerNorm(rules.dimension)
            self.drop = torch.nn.Dropout(rules.dropout)

        def forward(self, rows: Any) -> Any:
            """(batch, length) ids → (batch, length, dimension) states."""
            n = rows.shape[1]
            states = self.drop(self.items(rows) + self.places[-n:])
            # Padding stands left; every row sees itself, so that no softmax is over nothing.
            apart = torch.triu(torch.ones(n, n, dtype=torch.bool), 1) if causal else torch.zeros(n, n, dtype=torch.bool)
            blocked = apart[None] | (rows == 0)[:, None, :]
            blocked = blocked & ~torch.eye(n, dtype=torch.bool)[None]
            return self.norm(self.layers(states, mask=blocked.repeat_interleave(rules.heads, dim=0)))

    return Network()


def _padded(torch: Any, rows: Sequence[Sequence[int]], length: int) -> Any:
    longest = min(length, max(map(len, rows)))
    return torch.tensor([[0] * (longest - len(row[-longest:])) + list(row[-longest:]) for row in rows])


def _inputs(torch: Any, rows: Sequence[Sequence[int]], kind: Kind, rules: TrainRules, mask: int) -> Any:
    """What is seen when the next item is asked for."""
    asked = [[*row, mask] for row in rows] if kind == "bert4rec" else rows
    return _padded(torch, asked, rules.length + (kind == "bert4rec"))


def _examples(
    torch: Any, rows: Sequence[Sequence[int]], kind: Kind, rules: TrainRules, mask: int, rng: np.random.Generator
) -> tuple[Any, Any]:
    """(inputs, wanted), 0 in wanted where nothing is asked."""
    if kind == "sasrec":
        whole = _padded(torch, rows, rules.length + 1)
        return whole[:, :-1], whole[:, 1:].masked_fill(whole[:, :-1] == 0, 0)
    whole = _padded(torch, rows, rules.length)
    hide = torch.from_numpy(rng.random(tuple(whole.shape)) < rules.hidden) & (whole > 0)
    hide[:, -1] |= torch.from_numpy(rng.random(len(whole)) < 0.5)  # the end is what will be asked for
    return whole.masked_fill(hide, mask), whole.masked_fill(~hide, 0)


def _loss(torch: Any, model: Any, inputs: Any, wanted: Any) -> Any:
    asked = wanted > 0
    drawn = torch.randint(1, len(model.items.weight) - 1, (_DRAWN,))
    items, places = torch.unique(torch.cat([wanted[asked], drawn]), return_inverse=True)
    logits = model(inputs)[asked] @ model.items.weight[items].T
    return torch.nn.functional.cross_entropy(logits, places[: int(asked.sum())])


def _held_out(torch: Any, model: Any, rows: Sequence[Sequence[int]], kind: Kind, rules: TrainRules, mask: int) -> float:
    """Mean loss of the last known item given those before."""
    model.eval()
    losses = []
    with torch.no_grad():
        for start in range(0, len(rows), rules.batch):
            batch = rows[start : start + rules.batch]
            states = model(_inputs(torch, [row[:-1] for row in batch], kind, rules, mask))[:, -1]
            wanted = torch.tensor([row[-1] for row in batch])
            loss = torch.nn.functional.cross_entropy(states @ model.items.weight.T, wanted, reduction="sum")
            losses.append(float(loss))
    return sum(losses) / max(len(rows), 1)
