"""Decisions visible in text: named by a vocabulary, mined from what varies, or declared by the agent."""
