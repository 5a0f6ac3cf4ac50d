"""The Upworthy Research Archive: learn from randomised headline tests, then choose the headlines of later ones.

Matias, Munger, Le Quere & Ebersole, Scientific Data 2021 (CC BY 4.0).
"""

from afterwit.benchmarks.upworthy.archive import Archive, split
from afterwit.benchmarks.upworthy.run import run

__all__ = ["Archive", "run", "split"]
