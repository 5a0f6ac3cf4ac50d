"""Identifiers and hashes."""

import hashlib
import secrets
import time
import uuid


def new_id() -> str:
    """A UUIDv7 (RFC 9562): time-ordered, so that ids made later sort later at millisecond grain."""
    milliseconds = time.time_ns() // 1_000_000
    bits = (milliseconds & (2**48 - 1)) << 80 | 0x7 << 76 | secrets.randbits(12) << 64
    return str(uuid.UUID(int=bits | 0b10 << 62 | secrets.randbits(62)))


def content_hash(*parts: str) -> str:
    """SHA-256 over the parts, as 64 hex digits; parts are length-prefixed, so no two lists collide."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")  # half a character is refused where it would be kept
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()
