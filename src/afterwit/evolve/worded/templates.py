"""Prompt templates: files that a user may replace, one an operator."""

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Formatter

from afterwit.errors import InputError

OPERATORS = ("admit", "reinforce", "merge", "revise", "split", "evict")
FIELDS = frozenset(("guidance", "key", "when", "evidence", "sources", "words", "uses", "reason"))


@dataclass(frozen=True, kw_only=True)
class Templates:
    """texts: operator → text with fields in braces."""

    texts: dict[str, str]

    @staticmethod
    def load(folder: Path | None = None) -> "Templates":
        """The bundled ones, and in their place those of the folder, such as ``admit.md``.

        Raises InputError for a template that names an unknown field, which would fail only when it is used.
        """
        texts = {}
        for name in OPERATORS:
            own = folder / f"{name}.md" if folder else None
            bundled = resources.files("afterwit") / "evolve" / "worded" / "templates" / f"{name}.md"
            try:
                texts[name] = (own if own and own.is_file() else bundled).read_text(encoding="utf-8")
                named = {field for _, field, _, _ in Formatter().parse(texts[name]) if field is not None}
            except (OSError, ValueError) as error:
                raise InputError(f"template {name}.md cannot be used: {error}") from None
            if unknown := sorted(named - FIELDS):
                raise InputError(f"template {name}.md names {{{unknown[0]}}}: give {', '.join(sorted(FIELDS))}")
        return Templates(texts=texts)

    def fill(self, operator: str, **fields: object) -> str:
        return self.texts[operator].format(**{field: fields.get(field, "") for field in FIELDS})
