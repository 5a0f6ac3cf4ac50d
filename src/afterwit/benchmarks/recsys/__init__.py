"""Recommendation from long histories: a bounded profile beside what people use today (ReMem)."""
