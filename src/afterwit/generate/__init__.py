"""Frozen generators."""
