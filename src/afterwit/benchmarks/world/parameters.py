"""What a world is made of, read from a file."""

import tomllib
from importlib import resources
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from afterwit.errors import InputError

_Names = tuple[str, ...]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Contexts(_Part):
    """Fields of a context and their levels; placements, the better first."""

    channels: _Names = Field(min_length=2)
    benefits: _Names = Field(min_length=1)
    audiences: _Names = Field(min_length=2)
    placements: _Names = Field(min_length=1)


class Decisions(_Part):
    slots: int = Field(ge=4)
    values: int = Field(ge=2)
    absent: float = Field(ge=0, lt=1)
    real: float = Field(gt=0, le=1)
    low: float = Field(ge=0)
    high: float = Field(gt=0)
    conditional: float = Field(ge=0, le=1)
    clickbait: float = Field(ge=0, le=1)
    unfit: float = Field(ge=0, lt=1)
    unfit_cost: float = Field(ge=0)


class Log(_Part):
    days: int = Field(ge=7)
    items: int = Field(ge=10)
    impressions: float = Field(gt=0)
    click: float = Field(gt=0, lt=1)
    conversion: float = Field(gt=0, lt=1)
    item_sd: float = Field(ge=0)
    placement_lift: float
    favour: float
    fashion: float = Field(ge=0)
    randomised: float = Field(ge=0, le=1)
    delay_days: float = Field(ge=0)
    duplicated: float = Field(ge=0, lt=1)
    late: float = Field(ge=0, lt=1)
    late_days: float = Field(ge=0)


class Shift(_Part):
    round: int = Field(ge=0)
    drift: float = Field(ge=0, le=1)
    mix: float = Field(ge=0, lt=1)


class Holding(_Part):
    warm_up: int = Field(ge=1)
    rounds: int = Field(ge=1)
    tasks: int = Field(ge=1)
    capacity: int = Field(ge=1)
    noise: float = Field(ge=0, lt=1)
    wordy: float = Field(ge=0, le=1)
    prompt: int = Field(ge=1)
    compliance: float = Field(ge=0, le=1)


class Requests(_Part):
    count: int = Field(ge=1)
    plays: int = Field(ge=1)
    good: int = Field(ge=1)
    hitch: float = Field(ge=0, le=1)


class Parameters(_Part):
    """Every figure of a world; the comments of ``parameters.toml`` say what each means."""

    contexts: Contexts
    decisions: Decisions
    log: Log
    shift: Shift
    memory: Holding
    requests: Requests

    @staticmethod
    def load(path: Path | None = None) -> "Parameters":
        """The bundled world, with what a file says otherwise. Raises InputError naming the entry that is wrong."""
        bundled = resources.files("afterwit.benchmarks.world") / "parameters.toml"
        whole = tomllib.loads(bundled.read_text(encoding="utf-8"))
        if path is not None:
            try:
                given = tomllib.loads(path.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
                raise InputError(f"{path} cannot be read as a world of TOML: {error}") from None
            for name, part in given.items():
                whole[name] = {**whole.get(name, {}), **part} if isinstance(part, dict) else part
        try:
            return Parameters.model_validate(whole)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise InputError(f"{path or 'the world'}: {place}: {first['msg']}") from None
