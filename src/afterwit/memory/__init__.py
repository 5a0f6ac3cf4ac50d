"""The public face: `Memory`, facade by facade, and `AsyncMemory` derived from it."""

from afterwit.memory.awaited import AsyncMemory
from afterwit.memory.face import Memory

__all__ = ["AsyncMemory", "Memory"]
