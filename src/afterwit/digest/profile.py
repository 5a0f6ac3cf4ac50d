"""The profile of one user, as people and agents use it: read, ask, edit, constrain, go back."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from typing import Protocol

from afterwit.digest.answer import Answerer, Candidate
from afterwit.digest.chunk import ChunkRules, chunks
from afterwit.digest.constraints import Constraint
from afterwit.digest.fold import Folding, body, empty, heading, room_of
from afterwit.errors import InputError, NotFound
from afterwit.model import Interaction, Profile
from afterwit.ports import Progress


class Profiles(Protocol):
    """The part of a store that profiles need."""

    def save_profile(self, profile: Profile, *, interactions: Sequence[str] = ()) -> None: ...

    def profiles(self, scope: str, user: str, *, limit: int | None = None) -> tuple[Profile, ...]: ...

    def unfolded(self, scope: str, user: str, interactions: Sequence[str]) -> frozenset[str]: ...


@dataclass(frozen=True, kw_only=True, eq=False)
class UserProfile:
    """budget: tokens of every later version; earlier ones keep theirs. query: what it is for, "" for anything."""

    store: Profiles
    scope: str
    user: str
    folding: Folding
    answerer: Answerer
    budget: int = 5000
    query: str = ""
    rules: ChunkRules = field(default_factory=ChunkRules)

    @property
    def current(self) -> Profile:
        """The newest version; one without text, number 0, before the first."""
        found = self.store.profiles(self.scope, self.user, limit=1)
        if found:
            return found[0]
        at = self.folding.clock()
        return empty(scope=self.scope, user=self.user, budget=self.budget, at=at, query=self.query)

    @property
    def text(self) -> str:
        return self.current.text

    # What happened

    def read(self, history: Iterable[Interaction], *, progress: Progress | None = None) -> Profile:
        """Folds what the user did, oldest first, a version a chunk; each is saved before the next is begun, so that a
        run that was broken off goes on where it stood. What was folded before is skipped. The newest version."""
        done = 0
        for chunk in chunks(self._new(history), rules=self.rules, count=self.folding.count):
            state = self.folding.fold(self._ready(), chunk)
            self.store.save_profile(state, interactions=[one.identity for one in chunk.interactions])
            done += len(chunk.interactions)
            if progress is not None:
                progress(done, None)
        return self.current

    def _new(self, history: Iterable[Interaction]) -> Iterator[Interaction]:
        batch: list[Interaction] = []
        for interaction in history:
            batch.append(interaction)
            if len(batch) == 500:
                yield from self._unfolded(batch)
                batch = []
        yield from self._unfolded(batch)

    def _unfolded(self, batch: Sequence[Interaction]) -> Iterator[Interaction]:
        new = set(self.store.unfolded(self.scope, self.user, [one.identity for one in batch]))
        for interaction in batch:
            if interaction.identity in new:
                new.discard(interaction.identity)
                yield interaction

    def _ready(self) -> Profile:
        return replace(self.current, budget=self.budget, query=self.query)

    # Answers

    def rank(self, candidates: Sequence[Candidate], *, query: str = "") -> list[Candidate]:
        """Best first, from the profile's text alone."""
        return self.answerer.rank(self.text, candidates, query=query or self.query)

    def search(self, catalogue: Sequence[Candidate], *, query: str = "", k: int = 5) -> list[Candidate]:
        return self.rank(catalogue, query=query)[:k]

    def judge(self, candidate: Candidate, others: Sequence[Candidate] = (), *, query: str = "") -> bool:
        return self.answerer.judge(self.text, candidate, others, query=query or self.query)

    # By hand

    def edit(self, text: str) -> Profile:
        """A person's text in place of the newest. Raises InputError where it is above the budget or breaks a
        constraint: what a person wrote is not cut in silence."""
        state = self._ready()
        room_of(state, self.folding.count)
        made = self.folding.version(replace(state, writer="hand"), body(text), operator="edit")
        if made.note:
            raise InputError(f"the profile of {self.user!r} cannot be changed so: {made.note}")
        return self._saved(made)

    def constrain(self, said: str) -> Profile:
        """Every later version respects it, and this one drops what breaks it: ``never mention health``. Raises
        InputError for a sentence that cannot be checked, or where the budget has no room for it."""
        rule = Constraint.read(said)
        state = self._ready()
        if rule.said in state.constraints:
            return state
        changed = replace(state, constraints=(*state.constraints, rule.said))
        room_of(changed, self.folding.count)
        return self._saved(self.folding.version(changed, body(state.text), operator="constrain"))

    def release(self, said: str) -> Profile:
        """Takes a constraint back. What it kept out comes again with new evidence alone."""
        state = self._ready()
        if said not in state.constraints:
            raise NotFound(f"the profile of {self.user!r} has no constraint {said!r}")
        changed = replace(state, constraints=tuple(one for one in state.constraints if one != said))
        return self._saved(self.folding.version(changed, body(state.text), operator="constrain"))

    def rollback(self, version: int) -> Profile:
        """The text of an earlier version as a new one; constraints of today hold for it."""
        earlier = self.version(version)
        return self._saved(self.folding.version(self._ready(), body(earlier.text), operator="rollback"))

    # Versions

    def versions(self) -> tuple[Profile, ...]:
        """Newest first."""
        return self.store.profiles(self.scope, self.user)

    def version(self, number: int) -> Profile:
        for profile in self.versions():
            if profile.version == number:
                return profile
        raise NotFound(f"the profile of {self.user!r} has no version {number}")

    def diff(self, before: int, after: int | None = None) -> list[str]:
        """Lines that went and came, as a unified diff without context. after: the newest if left out."""
        old, new = self.version(before), self.current if after is None else self.version(after)
        names = (f"version {old.version}", f"version {new.version}")
        return list(unified_diff(old.text.splitlines(), new.text.splitlines(), *names, n=0, lineterm=""))

    def export(self) -> str:
        """Markdown: the constraints and the profile, as they stand."""
        state = self.current
        return state.text or heading(state.constraints)

    def _saved(self, profile: Profile) -> Profile:
        self.store.save_profile(profile)
        return profile
