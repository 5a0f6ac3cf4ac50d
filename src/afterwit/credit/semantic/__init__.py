"""Semantic credit: which decision deserves the outcome (design section 6)."""
