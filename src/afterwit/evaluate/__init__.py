"""Evaluate: what the memory is worth on work that came later."""
