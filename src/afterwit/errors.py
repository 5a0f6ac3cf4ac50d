"""Every error that Afterwit raises on purpose.

    AfterwitError
    ├── UsageError             the caller can mend it: a wrong argument, file or setting (exit code 2)
    │   ├── InputError         a file or row that cannot be read as what it claims to be
    │   ├── ConditionError     a condition that does not parse or names an unknown field
    │   ├── UnknownScope       no such scope in this store
    │   ├── NotFound           no such card, episode, round or delivery in this scope
    │   └── MissingExtra       an optional package is needed; the message holds the install command
    ├── Refused                a law of the memory forbids it; nothing was changed
    │   ├── CapacityExceeded   the bank would hold more cards or tokens than its capacity
    │   ├── Conflict           the same id with other content, or the bank moved since it was read
    │   ├── LeakageError       a record judges an update although it was available when that was made
    │   └── EmbedderMismatch   the bank was embedded by another model; re-embed it first
    ├── ModelError             a model could not be asked, or its answer could not be used (exit code 1)
    │   ├── ProviderError      the endpoint failed, refused or took too long, after the retries that it allows
    │   ├── BudgetSpent        the calls or tokens that were granted are used up; raise the budget to go on
    │   └── OutputError        the answer is empty, cut off, looping or not what was asked for, also after one repair
    ├── AccessDenied           whoever asks has no key, or not the role that this needs
    ├── RateLimited            whoever asks does so too often; says when to come again
    └── StoreError             the disk or database failed; the last commit still stands (exit code 1)

A message is one line: what happened, to what, and what to do.
"""


class AfterwitError(Exception):
    """The root of the tree; ``exit_code`` is what the command line returns."""

    exit_code = 1


class UsageError(AfterwitError):
    exit_code = 2


class InputError(UsageError):
    pass


class ConditionError(UsageError):
    pass


class UnknownScope(UsageError):
    pass


class NotFound(UsageError):
    pass


class MissingExtra(UsageError):
    """An optional package is missing; says which command installs it, and what else must be run after it."""

    def __init__(self, package: str, extra: str, *, also: str = "") -> None:
        command = f"pip install 'afterwit[{extra}]'" + (f" && {also}" if also else "")
        super().__init__(f"this needs {package}, which is not installed: {command}")


class Refused(AfterwitError):
    pass


class CapacityExceeded(Refused):
    pass


class Conflict(Refused):
    pass


class LeakageError(Refused):
    pass


class EmbedderMismatch(Refused):
    pass


class ModelError(AfterwitError):
    pass


class ProviderError(ModelError):
    pass


class BudgetSpent(ModelError):
    pass


class OutputError(ModelError):
    """kind: what is wrong with it, such as ``empty``, ``cut``, ``looping``, ``not json`` or ``schema``."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class AccessDenied(AfterwitError):
    """known: who asks is known, and lacks a role."""

    def __init__(self, message: str, *, known: bool = False) -> None:
        super().__init__(message)
        self.known = known


class RateLimited(AfterwitError):
    """after: seconds until the next request is taken."""

    def __init__(self, after: float) -> None:
        super().__init__(f"too many requests: come again in {after:.1f} s")
        self.after = after


class StoreError(AfterwitError):
    pass
