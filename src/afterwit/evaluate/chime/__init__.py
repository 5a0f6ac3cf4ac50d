"""CHIME's protocol: agents that plan, memory learned along a stream of tasks and frozen for the rest (section 12)."""
