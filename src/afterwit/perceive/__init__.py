"""A page of a shop → screenshot → text → item card (ReMem's perception)."""
