"""What the page shows. A caller sees what its key may see; a button is a form; every change goes through `Memory`."""

from importlib import resources
from typing import Any
from urllib.parse import parse_qs, urlencode

import jinja2
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from afterwit.errors import AccessDenied, AfterwitError, InputError
from afterwit.memory import Memory
from afterwit.model import Role
from afterwit.server.access import COOKIE, caller_of, office_of
from afterwit.server.page.pictures import interval, versions
from afterwit.server.problems import status_of

routes = APIRouter(include_in_schema=False)
_BANKS = ("content", "planning", "execution")
_templates = jinja2.Environment(
    loader=jinja2.PackageLoader("afterwit.server.page"), autoescape=True, undefined=jinja2.StrictUndefined
)
_templates.globals |= {"interval": interval, "versions": versions, "query": urlencode}


@routes.get("/")
def home() -> Response:
    return RedirectResponse("/page")


@routes.get("/page/style.css")
def style() -> Response:
    text = resources.files("afterwit.server.page").joinpath("style.css").read_text(encoding="utf-8")
    return Response(text, media_type="text/css")


@routes.get("/page")
def scopes(request: Request) -> Response:
    def shown() -> Response:
        caller = caller_of(request)
        caller.require("recall")
        known = [scope for scope in office_of(request).tenants.scopes() if caller.reaches(scope)]
        return _html("scopes.html", scopes=known, scope=None)

    return _safely(shown)


@routes.get("/page/banks")
def banks(request: Request, scope: str) -> Response:
    def shown() -> Response:
        memory = _memory(request, scope, "recall")
        rows = [(b, memory.cards(bank=b), memory.settings(bank=b).capacity, memory.notices(bank=b)) for b in _BANKS]
        return _html("banks.html", scope=scope, banks=rows, users=memory.users())

    return _safely(shown)


@routes.get("/page/cards")
def cards(request: Request, scope: str, bank: str = "content", q: str = "", status: str = "") -> Response:
    def shown() -> Response:
        found = _memory(request, scope, "recall").cards(bank=bank)
        wanted = q.casefold()
        kept = [c for c in found if wanted in f"{c.guidance} {c.key} {c.when}".casefold() and status in ("", c.status)]
        kept.sort(key=lambda card: (-abs(card.effect), card.id))
        return _html("cards.html", scope=scope, bank=bank, q=q, chosen=status, cards=kept, total=len(found))

    return _safely(shown)


@routes.get("/page/card")
def card(request: Request, scope: str, id: str) -> Response:
    def shown() -> Response:
        memory = _memory(request, scope, "recall")
        return _html("card.html", scope=scope, card=memory.get(id), history=memory.history(id))

    return _safely(shown)


@routes.get("/page/rounds")
def rounds(request: Request, scope: str, before: str | None = None) -> Response:
    def shown() -> Response:
        found = _memory(request, scope, "recall").rounds(limit=20, before=before)
        return _html("rounds.html", scope=scope, rounds=found, more=found[-1].id if len(found) == 20 else None)

    return _safely(shown)


@routes.get("/page/episodes")
def episodes(request: Request, scope: str, before: str | None = None) -> Response:
    def shown() -> Response:
        found = _memory(request, scope, "recall").episodes(limit=20, before=before)
        return _html("episodes.html", scope=scope, episodes=found, more=found[-1].id if len(found) == 20 else None)

    return _safely(shown)


@routes.get("/page/profile")
def profile(request: Request, scope: str, user: str) -> Response:
    def shown() -> Response:
        found = _memory(request, scope, "recall").profile(user).versions()
        return _html("profile.html", scope=scope, user=user, versions_of=found)

    return _safely(shown)


@routes.get("/page/jobs")
def jobs(request: Request, scope: str) -> Response:
    def shown() -> Response:
        _memory(request, scope, "recall")
        running = office_of(request).jobs
        return _html("jobs.html", scope=scope, jobs=running.list(scope) if running else ())

    return _safely(shown)


@routes.post("/page/login")
async def login(request: Request) -> Response:
    """The key as a cookie that scripts cannot read and other sites cannot send."""
    given = (await _form(request)).get("key", "").strip()

    def entered() -> Response:
        office_of(request).caller(given or None)
        answer = RedirectResponse("/page", 303)
        answer.set_cookie(COOKIE, given, httponly=True, samesite="strict", secure=request.url.scheme == "https")
        return answer

    return await run_in_threadpool(_safely, entered)


@routes.post("/page/decide")
async def decide(request: Request) -> Response:
    """Approve or reject a round, or put the bank back to before it."""
    form = await _form(request)

    def done() -> Response:
        scope = form.get("scope", "")
        memory = _memory(request, scope, "approve")
        round_ = memory.round(form.get("round", ""))
        if form.get("what") == "undo":
            earlier = [r for r in memory.rounds(bank=round_.bank) if r.status == "applied" and r.as_of < round_.as_of]
            if not earlier:
                raise InputError("nothing was applied before this round: retire its cards one by one")
            memory.rollback(to=earlier[0].as_of, bank=round_.bank)
        else:
            memory.approve(round_.id, reject=form.get("what") != "approve")
        return RedirectResponse(f"/page/rounds?{urlencode({'scope': scope})}", 303)

    return await run_in_threadpool(_safely, done)


def _memory(request: Request, scope: str, role: Role) -> Memory:
    caller = caller_of(request)
    named = caller.scope(scope)
    caller.require(role)
    return office_of(request).tenants.memory(named)


def _safely(show: Any) -> Response:
    try:
        found: Response = show()
    except AccessDenied as error:
        return _html("login.html", status_of(error), error="" if error.known is False else str(error), scope=None)
    except AfterwitError as error:
        return _html("error.html", status_of(error), error=str(error), scope=None)
    return found


def _html(template: str, status: int = 200, **values: Any) -> Response:
    return HTMLResponse(_templates.get_template(template).render(**values), status)


async def _form(request: Request) -> dict[str, str]:
    body = (await request.body()).decode("utf-8", "replace")
    return {name: values[0] for name, values in parse_qs(body).items()}
