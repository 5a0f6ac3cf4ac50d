"""The page: what was learned, why, and a yes or no. Plain HTML from this process: no script, no build, no network."""
