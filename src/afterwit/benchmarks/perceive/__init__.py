"""Prices, currencies, makers and stock read off pages of real shops."""
