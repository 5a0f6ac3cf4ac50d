"""One file per vendor or local model."""
