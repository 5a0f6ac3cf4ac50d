"""Recall: filter, compare by meaning, rerank by value, render as data."""
