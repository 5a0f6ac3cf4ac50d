"""What requests and answers hold, where a frozen value of `afterwit.model` does not say it already."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from afterwit.model import Card, Edit, Episode, Profile, Recalled, Role, Round
from afterwit.service.jobs import Job

_WHOLE = 2**53
Id = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=100_000)]
Name = Annotated[str, Field(min_length=1, max_length=300)]
BankName = Annotated[str, Field(min_length=1, max_length=100, description="content, planning, execution, or your own.")]
Bundled = Annotated[str, Field(pattern="^[a-z_]{1,40}$")]
Value = (
    Annotated[str, Field(max_length=1_000)]
    | bool
    | Annotated[int, Field(ge=-_WHOLE, le=_WHOLE)]
    | Annotated[float, Field(allow_inf_nan=False)]
)
Context = Annotated[dict[Name, Value], Field(max_length=100, description="What is known of the task: field → value.")]
Candidates = Annotated[list[Text], Field(max_length=200, description="Texts to choose from, where the task has them.")]
Count = Annotated[int, Field(ge=1, le=100)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


# Recall and record


class Search(Body):
    query: Annotated[Text, Field(min_length=1)]
    context: Context = {}
    candidates: Candidates = []
    bank: BankName = "content"
    k: Count = 3


class Recall(Body):
    """episode: continue an open one, so that one task may ask several banks; its task stays."""

    task: Annotated[Text, Field(min_length=1)]
    context: Context = {}
    candidates: Candidates = []
    bank: BankName = "content"
    k: Count = 3
    query: Text | None = Field(None, description="What is searched for in place of the task, such as the step at hand.")
    explore: float = Field(0.0, ge=0, le=1, description="Probability of withholding each card, for controls.")
    episode: Id | None = None


class Found(BaseModel):
    card: Card
    recalled: Recalled


class Notes(BaseModel):
    """notes: the cards framed as data, for a model's prompt."""

    cards: list[Found]
    notes: str


class Recalls(Notes):
    episode: str


class Decided(Body):
    name: Name
    value: Name
    because: list[Id] = Field([], max_length=100, description="Ids of recalled cards that caused it.")


class Stepped(Body):
    tool: Name
    arguments: dict[str, Any] = {}
    result: Text | None = None
    error: Text | None = None
    because: list[Id] = Field([], max_length=100)


class Delivered(Body):
    id: Id
    text: Text | None = None
    experiment: Name | None = None
    placement: Name | None = None
    audience: Name | None = None
    policy: Name | None = None
    propensity: float | None = Field(None, gt=0, le=1)


class Record(Body):
    """What became of an episode. task, context, candidates: needed only where nothing was recalled before."""

    task: Text | None = None
    context: Context = {}
    candidates: Candidates = []
    decisions: list[Decided] = Field([], max_length=200)
    plan: Text | None = None
    plan_because: list[Id] = Field([], max_length=100)
    steps: list[Stepped] = Field([], max_length=500)
    output: Text | None = None
    deliveries: list[Delivered] = Field([], max_length=100)
    success: bool | None = None
    feedback: Text | None = None


class Episodes(BaseModel):
    items: list[Episode]
    next: str | None = Field(None, description="Give it as `before` for the next page.")


# Outcomes and rounds


class Outcome(Body):
    """delivery: the id under which the world saw the output. at: now, if left out. id: of the event, so that sending it
    twice counts once; derived from the rest if left out."""

    delivery: Id
    kind: Name
    at: AwareDatetime | None = None
    count: int = Field(1, ge=1, le=10**9)
    user: Id | None = None
    id: Id | None = None


class Outcomes(Body):
    outcomes: list[Outcome] = Field(min_length=1, max_length=10_000)


class Ingested(BaseModel):
    rows: int
    events_new: int
    events_known: int
    deliveries_new: int
    rejected: int
    unmatched: int


class Evolve(Body):
    bank: BankName = "content"
    as_of: AwareDatetime | None = None
    final: bool = Field(False, description="Spend the tests that are still open, as before a freeze.")
    approval: bool = Field(False, description="Leave the round proposed, for somebody to approve.")


class Rollback(Body):
    to: AwareDatetime
    bank: BankName = "content"


class Rounds(BaseModel):
    items: list[Round]
    next: str | None = None


class JobList(BaseModel):
    items: list[Job]


# Cards


class Added(Body):
    guidance: Annotated[Text, Field(min_length=1)]
    key: Text | None = Field(None, description="The task it applies to; the guidance itself, if left out.")
    when: Annotated[str, Field(max_length=2_000)] | None = Field(None, description="As 'channel = push; price < 20'.")
    prefer: Name | None = None
    avoid: Name | None = None
    topic: Name | None = None
    bank: BankName = "content"
    trust: Literal["user", "model", "page"] = "user"
    valid_until: AwareDatetime | None = None
    replace: bool = Field(False, description="In a full bank, retire the least useful card by hand for it.")


class Reworded(Body):
    guidance: Annotated[Text, Field(min_length=1)]


class CardHistory(BaseModel):
    card: Card
    history: list[Edit]


class CardList(BaseModel):
    bank: str
    capacity: int
    items: list[Card]


class Difference(BaseModel):
    added: list[Card]
    removed: list[Card]
    changed: list[tuple[Card, Card]]


# Profiles


class History(Body):
    """Oldest first. Beside item, title, at, kind, text and id, every field is an attribute."""

    interactions: list[dict[str, Any]] = Field(min_length=1, max_length=5_000)
    budget: int = Field(5_000, ge=50, le=100_000)


class Profiled(Body):
    text: Text


class Said(Body):
    said: Annotated[str, Field(min_length=1, max_length=1_000)]


class To(Body):
    version: int = Field(ge=1, le=10**9)


class Item(Body):
    id: Id
    title: Name
    text: Text = ""


class Ranking(Body):
    candidates: list[Item] = Field(min_length=1, max_length=1_000)
    query: Text = ""


class ProfileVersions(BaseModel):
    items: list[Profile]


# Keeping


class Forget(Body):
    card: Id | None = None
    episode: Id | None = None
    delivery: Id | None = None
    user: Id | None = None
    everything: bool = False


class Configured(Body):
    bank: BankName = "content"
    capacity: int | None = Field(None, ge=1, le=10_000)
    objective: Name | None = None
    vocabulary: Bundled | Literal[""] | None = Field(None, description="A bundled vocabulary; empty for none.")
    meaning: bool | None = None


class ScopeList(BaseModel):
    items: list[str]


class Checked(BaseModel):
    problems: list[str]
    notices: list[str]


class NewKey(Body):
    name: Name
    scopes: list[Name] = Field(min_length=1, max_length=100)
    roles: list[Role] = Field(min_length=1)


class ShownKey(BaseModel):
    """token: only in the answer that made it."""

    id: str
    name: str
    scopes: list[str]
    roles: list[Role]
    created_at: datetime
    revoked_at: datetime | None = None
    token: str | None = None


class KeyList(BaseModel):
    items: list[ShownKey]


class Health(BaseModel):
    status: Literal["ok", "starting", "failing"]
    version: str
