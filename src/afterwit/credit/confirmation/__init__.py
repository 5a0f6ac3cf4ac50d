"""Confirmation: evidence of what came after a card, under one false discovery rate (design section 6)."""
