"""Ratings that become known late: MemoryCD's protocol on reviews, our reconstruction of it."""
