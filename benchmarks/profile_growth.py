"""How a profile grows with its history: seconds, tokens of the largest version, and the exponent of a power law.

python benchmarks/profile_growth.py [--most 10000] [--json] [--svg FILE]
"""

import argparse
import json
import resource
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np

from afterwit.digest.chunk import ChunkRules, chunks
from afterwit.digest.extractive import Extractive
from afterwit.digest.fold import Folding, folded
from afterwit.evaluate.report.html import escaped, svg
from afterwit.model import Interaction, Profile

START = datetime(2020, 1, 1, tzinfo=UTC)
BUDGET, CHUNK = 2_000, 4_000


def history(n: int) -> Iterator[Interaction]:
    """Synthetic, seeded: titles of five words out of 5,000, Zipf-distributed, brands and prices."""
    rng = np.random.default_rng(7)
    for i in range(n):
        words = rng.zipf(1.3, size=5) % 5_000
        yield Interaction(
            item=str(i),
            title=" ".join(f"word{w}" for w in words),
            at=START + timedelta(hours=i),
            attributes={"brand": f"brand {rng.integers(200)}", "price": float(rng.integers(5, 500)), "currency": "EUR"},
        )


def measured(n: int) -> dict[str, float]:
    folding = Folding(writer=Extractive(), clock=lambda: START)
    state = Profile(
        scope="s", user="u", version=0, text="", tokens=0, budget=BUDGET, writer="", operator="fold", at=START
    )
    began, largest, versions = time.process_time(), 0, 0
    for version in folded(folding, state, chunks(history(n), rules=ChunkRules(tokens=CHUNK))):
        largest, versions = max(largest, version.tokens), versions + 1
    return {
        "interactions": n,
        "seconds": time.process_time() - began,
        "largest_version_tokens": largest,
        "context_tokens": largest + CHUNK,
        "versions": versions,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def drawn(rows: list[dict[str, float]]) -> str:
    """Seconds and context against interactions, both axes logarithmic."""
    width, height, left, bottom = 560, 300, 60, 40

    def place(value: float, low: float, high: float, size: int) -> float:
        return size * (np.log10(value) - np.log10(low)) / (np.log10(high) - np.log10(low))

    parts = []
    for name, css in (("seconds", "#0b5f8a"), ("context_tokens", "#b3471d")):
        values = [row[name] for row in rows]
        low, high = min(values) / 2, max(values) * 2
        points = [
            (
                left + place(row["interactions"], 8, 12_000, width - left - 20),
                height - bottom - place(row[name], low, high, height - bottom - 20),
            )
            for row in rows
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{css}" stroke-width="2"/>')
        x, y = points[-1]
        parts.append(f'<text x="{x - 90:.0f}" y="{y - 8:.0f}" font-size="12" fill="{css}">{escaped(name)}</text>')
    for row in rows:
        x = left + place(row["interactions"], 8, 12_000, width - left - 20)
        parts.append(
            f'<text x="{x:.0f}" y="{height - 18}" font-size="11" text-anchor="middle">{row["interactions"]:,.0f}</text>'
        )
    return svg(width, height, "Seconds and context by interactions", "".join(parts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--svg")
    args = parser.parse_args()
    sizes = [n for n in (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000) if n <= args.most]
    measured(100)  # what the first run pays for imports is not the history's
    rows = [measured(n) for n in sizes]
    long = [row for row in rows if row["interactions"] >= 300]
    exponent = float(np.polyfit(np.log([r["interactions"] for r in long]), np.log([r["seconds"] for r in long]), 1)[0])
    if args.svg:
        with open(args.svg, "w", encoding="utf-8") as file:
            file.write(drawn(rows))
    if args.json:
        print(json.dumps({"rows": rows, "exponent": exponent}))
        return
    for row in rows:
        print("  ".join(f"{name} {value:,.3f}" for name, value in row.items()))
    print(f"seconds grow with interactions to the power {exponent:.2f} from 300 on")


if __name__ == "__main__":
    main()
