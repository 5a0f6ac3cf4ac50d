"""One metric a file: figures per task as a `Ratio`, turned into an interval by `bootstrap`."""
