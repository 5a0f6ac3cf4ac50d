"""Planning and execution banks: attribute before memorising (design section 8; CHIME)."""
