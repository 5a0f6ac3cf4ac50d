"""Wrappers that are chats themselves: cached, within a budget, metered; and many asks at once."""
