"""A controlled world whose truth is known to the scorer alone. Simulated."""
