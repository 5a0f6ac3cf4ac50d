"""Open Bandit Dataset: what a log of one policy tells of another, where both have been tried."""
