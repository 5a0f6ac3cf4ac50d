"""Temporal credit: which outcomes are ripe, and what they say at that age (design section 5)."""
