"""Memory for LLM agents that learns from what happened afterwards."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from afterwit.memory import AsyncMemory, Memory
    from afterwit.model import Card, Condition, Decision, Draft, Episode, Round, Stance, Task

__version__ = "0.1.0"
__all__ = [
    "AsyncMemory",
    "Card",
    "Condition",
    "Decision",
    "Draft",
    "Episode",
    "Memory",
    "Round",
    "Stance",
    "Task",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """Loads a public name on first use, so that importing the package costs little."""
    if name in ("Memory", "AsyncMemory"):
        from afterwit import memory

        return getattr(memory, name)
    if name in __all__:
        from afterwit import model

        return getattr(model, name)
    raise AttributeError(f"module 'afterwit' has no attribute {name!r}")
