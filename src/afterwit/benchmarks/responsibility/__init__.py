"""Does credit land on the cards that decisions hang on? A simulated set whose causes are known."""

from afterwit.benchmarks.responsibility.construct import ConstructedSet, construct
from afterwit.benchmarks.responsibility.methods import METHODS
from afterwit.benchmarks.responsibility.score import run, score

__all__ = ["METHODS", "ConstructedSet", "construct", "run", "score"]
