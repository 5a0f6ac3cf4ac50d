"""Erasing, moving, checking."""

from pathlib import Path

from afterwit.errors import StoreError
from afterwit.memory.opened import Opened
from afterwit.ports import Forgotten


class Keeping(Opened):
    """Erasing and moving."""

    def forget(
        self,
        *,
        card_id: str | None = None,
        episode_id: str | None = None,
        delivery_id: str | None = None,
        user: str | None = None,
        everything: bool = False,
    ) -> Forgotten:
        """Erases text from every table, index, segment and free page; a tombstone without content stays."""
        forgotten = self._store.forget(
            self.scope,
            card_id=card_id,
            episode_id=episode_id,
            delivery_id=delivery_id,
            user=user,
            everything=everything,
        )
        gone = [name.removeprefix("delivery:") for name in forgotten.tombstones if name.startswith("delivery:")]
        if everything or gone:
            self._parts.log.forget(self.scope, None if everything else gone)
        self._recall.forget()
        return forgotten

    def export(self, path: Path) -> int:
        """Writes the scope as JSON Lines, whole or not at all; the number of lines."""
        temporary = path.with_name(path.name + ".partial")
        count = 0
        try:
            with temporary.open("w", encoding="utf-8", newline="\n") as file:
                for line in self._store.export(self.scope):
                    file.write(line + "\n")
                    count += 1
            temporary.replace(path)
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror or error}; nothing was left there") from None
        finally:
            temporary.unlink(missing_ok=True)
        return count

    def check(self) -> tuple[str, ...]:
        """Problems found in the ledger; empty when sound."""
        return self._store.check(self.scope)
