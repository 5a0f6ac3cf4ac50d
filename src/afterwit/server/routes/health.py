"""Whether the service lives, and whether it can serve. Neither needs a key nor tells anything else."""

from fastapi import APIRouter, Request, Response

from afterwit import __version__
from afterwit.server.access import office_of
from afterwit.server.bodies import Health

routes = APIRouter(tags=["health"])


@routes.get("/health")
async def health() -> Health:
    return Health(status="ok", version=__version__)


@routes.get("/ready", responses={503: {"model": Health}})
def ready(request: Request, response: Response) -> Health:
    """Whether the database answers."""
    able = office_of(request).ready()
    response.status_code = 200 if able else 503
    return Health(status="ok" if able else "failing", version=__version__)
