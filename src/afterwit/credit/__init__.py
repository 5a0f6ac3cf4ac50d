"""Temporal, semantic and responsibility credit: which memory deserves what."""
