"""The wiring: the only place that knows which store, event log, embedder and model stand behind the ports.

`benchmarks` beside it is imported by who runs one: a memory at work does without.
"""

from afterwit.compose.chat import open_chat
from afterwit.compose.memory import IN_MEMORY, Parts, import_file, open_parts, open_place

__all__ = ["IN_MEMORY", "Parts", "import_file", "open_chat", "open_parts", "open_place"]
