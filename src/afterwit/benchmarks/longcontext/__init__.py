"""A question whose answer lies somewhere in a text of up to millions of tokens (ReMem's pilot, on HotpotQA)."""
