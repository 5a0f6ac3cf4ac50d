"""Ways to keep a memory, all behind one protocol, so that they can be compared on the same work."""

from collections.abc import Callable, Mapping, Sequence

from afterwit.errors import UsageError
from afterwit.evaluate.policies.append_only import AppendOnly
from afterwit.evaluate.policies.frozen import Frozen
from afterwit.evaluate.policies.full_history import FullHistory
from afterwit.evaluate.policies.none import Nothing
from afterwit.evaluate.policies.outcome_only import OutcomeOnly
from afterwit.evaluate.policies.protocol import Known, Policy, Setting
from afterwit.evaluate.policies.random_replacement import RandomReplacement
from afterwit.evaluate.policies.tide import ActiveOnly, Folded, Ledger, Tide

__all__ = ["POLICIES", "ActiveOnly", "Folded", "Known", "Ledger", "Policy", "Setting", "Tide", "make"]

POLICIES: Mapping[str, Callable[[Setting], Policy]] = {
    "none": Nothing,
    "frozen": Frozen,
    "full_history": FullHistory,
    "append_only": AppendOnly,
    "random_replacement": RandomReplacement,
    "outcome_only": OutcomeOnly,
    "tide": Tide,
}


def make(names: Sequence[str], setting: Setting, ledger: Ledger | None = None) -> tuple[Policy, ...]:
    """The policies of these names, in the order of the list above; tide brings ``tide:active_only`` along, the view
    of its active cards. Raises UsageError for a name that is not known."""
    unknown = sorted(set(names) - POLICIES.keys())
    if unknown:
        raise UsageError(f"there is no policy {unknown[0]!r}: choose from {', '.join(POLICIES)}")
    made: list[Policy] = []
    for name, kind in POLICIES.items():
        if name == "tide" and name in names:
            tide = Tide(setting, ledger)
            made += [tide, ActiveOnly(tide)]
        elif name in names:
            made.append(kind(setting))
    return tuple(made)
