"""A PostgreSQL server of the tests' own: a new cluster in a temporary folder, on a socket there, gone afterwards."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

from afterwit.store.open import open_store

PROGRAMS = next(
    (p for p in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True) if (p / "initdb").exists()), None
)
MISSING = "no PostgreSQL server on this machine: apt-get install postgresql"


class Cluster:
    """Servers refuse to run as root; where the tests do, the user ``postgres`` that Debian's package made runs it."""

    def __init__(self, folder: Path) -> None:
        assert PROGRAMS, MISSING
        self.folder = folder
        self.data = folder / "data"
        self._as = (
            ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--pdeathsig=INT", "--"]
            if os.getuid() == 0
            else []
        )
        if self._as:
            shutil.chown(folder, "postgres")
            for parent in folder.parents:  # pytest's folders are for their owner alone
                if parent.stat().st_uid == 0 and not parent.stat().st_mode & 0o001:
                    parent.chmod(parent.stat().st_mode | 0o011)
        self._run(
            "initdb", "-D", self.data, "-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8"
        )
        self.start()
        self._count = 0
        self.execute("CREATE DATABASE template_of_ledgers")
        open_store(self.url("template_of_ledgers")).close()

    def start(self) -> None:
        """Durable settings stay on, but for waiting on the disk: a killed process loses nothing either way."""
        options = ["-k", self.folder, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200"]
        command = [*self._as, PROGRAMS / "postgres", "-D", self.data, *options]
        with (self.folder / "log").open("a") as log:
            self._server = subprocess.Popen(list(map(str, command)), stdout=log, stderr=log, cwd=self.folder)
        until = time.monotonic() + 30
        while not (self.folder / ".s.PGSQL.5432").exists() or self._psql("SELECT 1").returncode:
            ended = self._server.poll() is not None or time.monotonic() > until
            assert not ended, (self.folder / "log").read_text()
            time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        self._server.send_signal(how)
        self._server.wait(timeout=30)

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={quote(str(self.folder))}"

    def new(self) -> str:
        """The URL of a new and empty ledger."""
        self._count += 1
        self.execute(f"CREATE DATABASE ledger{self._count} TEMPLATE template_of_ledgers")
        return self.url(f"ledger{self._count}")

    def execute(self, statement: str, database: str = "postgres") -> str:
        done = self._psql(statement, database)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def bytes(self) -> bytes:
        """All that its data files hold, once what is in memory is written out. The write-ahead log is apart."""
        self.execute("CHECKPOINT")
        found = (path for path in sorted(self.data.rglob("*")) if path.is_file() and "pg_wal" not in path.parts)
        return b"".join(path.read_bytes() for path in found)

    def _psql(self, statement: str, database: str = "postgres") -> subprocess.CompletedProcess[str]:
        command = ["psql", "-qAtX", "-h", self.folder, "-U", "postgres", "-d", database, "-c", statement]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)

    def _run(self, program: str, *arguments: object) -> None:
        assert PROGRAMS
        command = [*self._as, PROGRAMS / program, *arguments]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=self.folder, check=False)
        assert done.returncode == 0, done.stderr
