"""Gates: which stage an outcome is due to (design section 8; CHIME)."""
