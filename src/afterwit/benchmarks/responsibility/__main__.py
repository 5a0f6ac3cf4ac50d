"""``python -m afterwit.benchmarks.responsibility [--json] [--episodes 300] [--seed 13]``"""

import argparse
import json

from afterwit.benchmarks.responsibility.score import run


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m afterwit.benchmarks.responsibility", description=__doc__)
    parser.add_argument("--episodes", type=int, default=300, help="simulated episodes (default 300)")
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--json", action="store_true", help="print the evaluation record")
    chosen = parser.parse_args()
    if chosen.episodes < 1:
        parser.error("--episodes must be at least 1")
    record = run(episodes=chosen.episodes, seed=chosen.seed)
    if chosen.json:
        print(json.dumps(record.to_json(), ensure_ascii=False))
        return
    print(*record.notes, sep="\n")
    print(f"{'method':22}{'F1':>7}  {'95 % interval':16}{'precision':>10}{'recall':>8}{'largest Σ w':>13}")
    for name, figures in record.policies.items():
        f1 = figures["f1"]
        interval = f"[{f1.low:.3f}, {f1.high:.3f}]"
        print(
            f"{name:22}{f1.value:7.3f}  {interval:16}{figures['precision'].value:10.3f}"
            f"{figures['recall'].value:8.3f}{figures['weight_sum'].value:13.2f}"
        )


if __name__ == "__main__":
    main()
