"""torch, and a clear word where it or its neighbours are missing: the rest of Afterwit does without them."""

from afterwit.errors import MissingExtra

try:
    import torch as torch
except ImportError:
    raise MissingExtra("torch", "train") from None
