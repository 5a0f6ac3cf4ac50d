"""Deterministic wording of cards. Numbers stay in fields: they change every round, the sentence does not."""

from collections.abc import Callable

Describe = Callable[[str], str | None]


def guidance_for(decision: str, prefer: bool, describe: Describe) -> str:
    """One sentence that says what to do. describe: decision key → what it is called, or None."""
    called = describe(decision) or decision
    return f"{'Prefer' if prefer else 'Avoid'} {called}."
