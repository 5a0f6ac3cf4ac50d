"""τ²-bench (airline, retail, telecom): real tools and a real verifier, driven in an environment of its own."""
