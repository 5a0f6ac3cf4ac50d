"""A record as one HTML page that needs nothing else: no network, no scripts."""

from afterwit.evaluate.report.page import page, write

__all__ = ["page", "write"]
