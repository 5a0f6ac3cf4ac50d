"""Logs that wait to be read by a job, and rows that a job set aside: files of a scope in a folder of its own."""

import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from afterwit.errors import InputError, NotFound
from afterwit.model import content_hash

FORMATS = {"jsonl": ".jsonl", "csv": ".csv", "parquet": ".parquet"}


@dataclass(frozen=True, kw_only=True)
class Spool:
    """folder: None where the events of this service have no folder."""

    folder: Path | None

    def log(self, scope: str, job_id: str, format: str) -> Path:
        return self._place(scope) / f"{job_id}{FORMATS[format]}"

    def rejects(self, scope: str, job_id: str) -> Path:
        return self._place(scope) / f"{job_id}.rejects.jsonl"

    async def save(self, path: Path, body: AsyncIterator[bytes]) -> None:
        """Whole or not at all, and on the disk when this returns."""
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".partial")
        try:
            with partial.open("wb") as file:
                async for chunk in body:
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)

    def read_rejects(self, scope: str, job_id: str) -> bytes:
        path = self.rejects(scope, job_id)
        if not path.exists():
            raise NotFound(f"job {job_id} set no rows aside, or they were forgotten")
        return path.read_bytes()

    def forget(self, scope: str, *, everything: bool) -> None:
        """Rows set aside quote what was sent. Logs that wait may stay: reading one skips what was forgotten."""
        if self.folder is None:
            return
        if everything:
            shutil.rmtree(self._place(scope), ignore_errors=True)
        for path in self._place(scope).glob("*.rejects.jsonl"):
            path.unlink(missing_ok=True)

    def _place(self, scope: str) -> Path:
        if self.folder is None:
            raise InputError("logs have no folder beside this server: add ?events=FOLDER to the store's URL")
        return self.folder / content_hash(scope)[:32]
