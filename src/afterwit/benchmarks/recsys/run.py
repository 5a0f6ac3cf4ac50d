"""Every comparator on the same users and candidates: HR@K, NDCG@K, K = 1, 3, 5, with intervals by user.

A target's rank among its candidates is 1 + those above it + half of those equal to it; HR@K = [rank ≤ K] and NDCG@K =
[rank ≤ K] / log2(1 + rank), as one item is relevant.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np

from afterwit.benchmarks.recsys.comparators import Bench, Comparator
from afterwit.benchmarks.recsys.data import User, load
from afterwit.benchmarks.recsys.trained import trained
from afterwit.credit.items import Floats
from afterwit.digest.answer import AnswerRules
from afterwit.digest.fold import Writer
from afterwit.evaluate.metrics.bootstrap import Ratio, Resamples
from afterwit.evaluate.record import EvaluationRecord, sha256_of
from afterwit.model import Interval
from afterwit.ports import Embedder, Progress

CUTS = (1, 3, 5)
_GROUPS = ("short", "medium", "long")
NOTES = (
    "profile:extractive knows the profile, how rare words are, how often items are chosen and what goes with what; "
    ":no_prior not how often, :no_company not what with what, :fixed_weights weighs alike whatever the candidates",
    "ablation:full_history+catalogue reads every title with the same knowledge, and no profile",
    "full_history and retrieval read titles by the same answerer, without what is commonly chosen",
    "not run here, as published by others: P5, TokenRec, ToolRec, QwenLong-L1",
)


def run(
    folder: Path,
    embedder: Embedder,
    *,
    candidates: str = "random",
    negatives: int = 19,
    most: int | None = None,
    seed: int = 13,
    budget: int = 5000,
    windows: bool = False,
    train: bool = False,
    writers: Mapping[str, Writer] | None = None,
    progress: Progress | None = None,
    told: Callable[[str], None] | None = None,
) -> EvaluationRecord:
    """windows: also with other numbers of turns. train: also SASRec and BERT4Rec, minutes to hours. writers: more
    writers of profiles by name, such as a model; where one fails, what it had folded by then stands. progress: users
    served. told: each epoch of training."""
    began = time.perf_counter()
    data = load(folder, candidates=candidates, negatives=negatives, most=most, seed=seed)
    bench = Bench.of(data, embedder, budget=budget)
    comparators = _comparators(bench, windows, writers or {})
    for kind in ("sasrec", "bert4rec") if train else ():
        comparators[f"trained:{kind}"] = trained(data, kind, seed=seed, told=told)
    groups = _lengths(data.users)
    resamples = Resamples.of(np.arange(len(data.users)), seed=seed)
    ranks: dict[str, Floats] = {}
    figures: dict[str, dict[str, Interval]] = {}
    total = len(data.users) * len(comparators)
    for name, comparator in comparators.items():
        started = time.perf_counter()
        found, tokens = [], []
        for user in data.users:
            scored = comparator(user)
            found.append(rank(scored.scores, user.candidates.index(user.target)))
            tokens.append(scored.tokens)
            if progress is not None and len(found) % 50 == 0:
                progress(len(found) + len(data.users) * len(ranks), total)
        seconds = time.perf_counter() - started
        ranks[name] = np.array(found)
        figures[name] = _figures(ranks[name], groups, resamples)
        figures[name]["tokens"] = Interval(value=float(np.mean(tokens)), n=len(tokens))
        figures[name]["ms"] = Interval(value=1000 * seconds / len(data.users), n=len(data.users))
    _gains(figures, ranks, resamples)
    return EvaluationRecord(
        benchmark=f"recsys:{data.name}:{candidates}",
        version=version("afterwit"),
        seed=seed,
        seconds=time.perf_counter() - began,
        data={path.name: sha256_of(path) for path in sorted(folder.iterdir()) if path.is_file()},
        policies=figures,
        counts={"users": len(data.users), "items": len(data.items), "negatives": negatives}
        | {f"{name} histories": int(of.sum()) for name, of in groups.items()},
        notes=NOTES,
    )


def rank(scores: Floats, target: int) -> float:
    others = np.delete(scores, target)
    return float(1 + (others > scores[target]).sum() + 0.5 * (others == scores[target]).sum())


def hits(ranks: Floats, k: int) -> Floats:
    return (ranks <= k).astype(np.float64)


def ndcg(ranks: Floats, k: int) -> Floats:
    return np.where(ranks <= k, 1 / np.log2(1 + ranks), 0.0)


def _comparators(bench: Bench, windows: bool, writers: Mapping[str, Writer]) -> dict[str, Comparator]:
    found: dict[str, Comparator] = {
        "profile:extractive": bench.profile(),
        "profile:extractive:no_prior": bench.profile(catalogue=replace(bench.catalogue, chosen={})),
        "profile:extractive:no_company": bench.profile(catalogue=replace(bench.catalogue, together=None)),
        "profile:extractive:fixed_weights": bench.profile(reading=AnswerRules(weighing=False)),
        **{f"profile:extractive:W{turns}": bench.profile(turns=turns) for turns in ((1, 2, 4, 5) if windows else ())},
        **{f"profile:{name}": bench.profile(writer=writer) for name, writer in writers.items()},
        "ablation:bm25+prior": bench.bm25_and_prior,
        "ablation:full_history+catalogue": bench.full_history_and_catalogue,
        "item_to_item": bench.item_to_item,
        "item_to_item+prior": bench.item_to_item_and_prior,
        "popularity": bench.popularity,
        "last_item": bench.last_item,
        "bm25": bench.bm25,
        "mean_embedding": bench.mean_embedding,
        "full_history": bench.full_history,
        "retrieval:top5": bench.retrieval,
    }
    return found


def _figures(ranks: Floats, groups: Mapping[str, Floats], resamples: Resamples) -> dict[str, Interval]:
    one = np.ones(len(ranks))
    found = {f"hr@{k}": resamples.interval(Ratio(top=hits(ranks, k), bottom=one)) for k in CUTS}
    found |= {f"ndcg@{k}": resamples.interval(Ratio(top=ndcg(ranks, k), bottom=one)) for k in CUTS}
    for name, of in groups.items():
        found[f"ndcg@5:{name}"] = resamples.interval(Ratio(top=ndcg(ranks, 5) * of, bottom=of))
    return found


def _gains(figures: dict[str, dict[str, Interval]], ranks: Mapping[str, Floats], resamples: Resamples) -> None:
    """``gain@X``: NDCG@5 of the profile less that of X, paired by user."""
    one, mine = np.ones(len(next(iter(ranks.values())))), ranks["profile:extractive"]
    for name, theirs in ranks.items():
        if name != "profile:extractive":
            difference = Ratio(top=ndcg(mine, 5) - ndcg(theirs, 5), bottom=one)
            figures["profile:extractive"][f"gain@{name}"] = resamples.interval(difference)


def _lengths(users: tuple[User, ...]) -> dict[str, Floats]:
    """Thirds of the users by the length of their history."""
    lengths = np.array([len(user.history) for user in users])
    low, high = np.quantile(lengths, (1 / 3, 2 / 3))
    third = np.where(lengths <= low, 0, np.where(lengths <= high, 1, 2))
    return {name: (third == i).astype(np.float64) for i, name in enumerate(_GROUPS) if (third == i).any()}
