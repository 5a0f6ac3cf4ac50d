"""Training of the memory writer by multi-memory GRPO (ReMem): the objective, and what it is computed from."""
