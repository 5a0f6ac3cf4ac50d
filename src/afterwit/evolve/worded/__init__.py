"""Cards worded by a model: it proposes, the evidence disposes, and a deterministic sentence stands behind."""
