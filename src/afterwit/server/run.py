"""Listens until it is told to stop, then ends what is under way."""

import logging
import sys

import structlog
import uvicorn

from afterwit.errors import InputError
from afterwit.server.app import build
from afterwit.service.office import Limits, Office
from afterwit.service.reach import on_this_machine, require_keys

_GRACE = 30  # seconds for requests under way


def serve(url: str, *, host: str, port: int, limits: Limits, executor: str) -> None:
    """Raises InputError for an address beyond this machine where no key is in use."""
    _log_as_json()
    local = on_this_machine(host)
    office = Office.open(url, limits=limits, keys_required=not local, executor=executor)
    try:
        require_keys(office, host)
    except InputError:
        office.close()
        raise
    structlog.get_logger("afterwit.server").info("listening", host=host, port=port, keys=office.keyring.in_use())
    uvicorn.run(
        build(office, local=local),
        host=host,
        port=port,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=_GRACE,
        server_header=False,
        proxy_headers=False,
    )


def _log_as_json() -> None:
    """One JSON object a line on stderr; no texts of users, no keys."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
