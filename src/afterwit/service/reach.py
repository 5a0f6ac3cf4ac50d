"""Who can reach a service: this machine alone, or others, and then only with keys."""

import ipaddress

from afterwit.errors import InputError
from afterwit.service.office import Office


def on_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def require_keys(office: Office, host: str) -> None:
    """Raises InputError for an address beyond this machine where no key is in use."""
    if not on_this_machine(host) and not any(key.revoked_at is None for key in office.parts.keys.all()):
        raise InputError(f"listening on {host} without keys would open the memory to all: afterwit keys add first")
