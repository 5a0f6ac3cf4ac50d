"""A user's long history folded into a bounded profile, chunk by chunk (ReMem; design section 10)."""
