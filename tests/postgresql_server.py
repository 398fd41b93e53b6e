"""A PostgreSQL server of the tests' own, on a unix socket in a temporary directory."""

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg

from zerolap.store import Store

ADMINISTRATOR = "zerolap"
DEBIAN_PROGRAMS = "/usr/lib/postgresql"
START_SECONDS = 120
FIRST_WITH_STRATEGIES = 150000


def programs() -> Path | None:
    """Return the directory of the newest server's programs; Debian keeps them away from the PATH."""
    on_path = shutil.which("initdb")
    versions = sorted(Path(DEBIAN_PROGRAMS).glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    found = [Path(on_path)] if on_path else versions[-1:]
    return found[0].resolve().parent if found else None


def server_user() -> str | None:
    """Return whom the server runs as: it refuses to run as root. None where the system has nobody for it."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid()).pw_name
    with contextlib.suppress(KeyError):
        return pwd.getpwnam("postgres").pw_name
    return None


class PostgresqlServer:
    """A running server; `ADMINISTRATOR` needs no password, all others do."""

    def __init__(self, directory: Path, command: list[str | Path], user: str | None) -> None:
        self.directory = directory
        self._command = command
        self._user = user
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = itertools.count()
        self._empty_store: str | None = None

    @classmethod
    @contextlib.contextmanager
    def started(cls, binaries: Path, user: str, *, durable: bool = False) -> Iterator["PostgresqlServer"]:
        """Start a server, and stop it at the end; a `durable` one writes to the disk before it answers."""
        # Not below pytest's own directory, whose path is too long for a socket's name, and closed to other users.
        directory = Path(tempfile.mkdtemp(prefix="zerolap-pg-"))
        try:
            if os.geteuid() == 0:
                shutil.chown(directory, user)
            directory.chmod(0o755)
            data = directory / "data"
            as_user = user if os.geteuid() == 0 else None
            subprocess.run(
                [binaries / "initdb", "-D", data, "--no-sync", "--username", ADMINISTRATOR, "--encoding", "UTF8"],
                check=True,
                capture_output=True,
                cwd=directory,
                user=as_user,
            )
            (data / "pg_hba.conf").write_text(f"local all {ADMINISTRATOR} trust\nlocal all all scram-sha-256\n")
            # The kernel ends the server with the tests, also where they are killed.
            command: list[str | Path] = ["setpriv", "--pdeathsig", "INT", binaries / "postgres", "-D", data]
            command += ["-k", directory, "-c", "listen_addresses=", "-c", f"fsync={'on' if durable else 'off'}"]
            server = cls(directory, [*command, "-c", "log_destination=stderr"], as_user)
            try:
                server.start()
                yield server
            finally:
                server.stop(signal.SIGQUIT)  # without a checkpoint of what is removed next
        finally:
            shutil.rmtree(directory)

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command, stderr=log, cwd=self.directory, user=self._user)
        self._wait(self._process)

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """End it by a signal: by SIGINT after it has ended all sessions."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait()
            self._process = None

    @property
    def socket(self) -> Path:
        """The socket at which it takes connections."""
        return self.directory / ".s.PGSQL.5432"

    def new_database(self) -> str:
        """Return the name of a new, empty database."""
        return self._copied("template1")

    def new_store(self) -> str:
        """Return the name of a new database with the tables of a store, which are made once and copied."""
        if self._empty_store is None:
            self._empty_store = self.new_database()
            Store.open(self.url(self._empty_store)).close()
        return self._copied(self._empty_store)

    def _copied(self, template: str) -> str:
        name = f"store_{next(self._numbers)}"
        with self.session() as session:
            # Through the log, which later servers use unless they are told, it takes four times as long.
            strategy = " STRATEGY FILE_COPY" if session.info.server_version >= FIRST_WITH_STRATEGIES else ""
            session.execute(f"CREATE DATABASE {name} TEMPLATE {template}{strategy}".encode())
        return name

    def url(self, database: str, user: str = ADMINISTRATOR, password: str = "") -> str:
        """Return the location of a store in a database."""
        secret = f":{quote(password, safe='')}" if password else ""
        return f"postgresql://{user}{secret}@/{database}?host={self.directory}"

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Execute a statement by itself as the administrator."""
        with self.session(database) as session:
            session.execute(statement.encode())

    def session(self, database: str = "postgres") -> psycopg.Connection:
        """Return a session of the administrator, without transactions."""
        return psycopg.connect(host=str(self.directory), user=ADMINISTRATOR, dbname=database, autocommit=True)

    def _wait(self, process: "subprocess.Popen[bytes]") -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                self.session().close()
                return
            except psycopg.OperationalError as fault:
                if process.poll() is not None or time.monotonic() > deadline:
                    log = (self.directory / "log").read_text(errors="replace")
                    raise RuntimeError(f"the server does not start: {fault}\n{log}") from fault
            time.sleep(0.05)
