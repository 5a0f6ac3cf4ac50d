"""Evolve: from evidence to edits, within capacity."""
