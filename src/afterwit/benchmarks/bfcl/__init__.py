"""BFCL v4 (Berkeley Function Calling Leaderboard): multi-turn, memory and live, by the benchmark's own checkers."""
