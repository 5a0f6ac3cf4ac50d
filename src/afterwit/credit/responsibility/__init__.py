"""Responsibility credit: which recalled card an episode hangs on (design section 7)."""
