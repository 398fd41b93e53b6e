"""Content named by its digest: logs, call graphs, stacks, histograms; in files or in an S3-compatible store."""

import hashlib
import io
import os
import re
import shutil
import tempfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from zerolap.records import EnvironmentMissing, UsageError
from zerolap.store.default_directory import keep_from_git
from zerolap.store.store_errors import BlobDamaged, store_faults

if TYPE_CHECKING:
    from obstore.store import ObjectStore, RetryConfig

DIGEST: Final = re.compile(r"[0-9a-f]{64}")
COMPRESSION_LEVEL: Final = 6
PIECE_BYTES: Final = 1 << 16
UNPACKED_PIECE_BYTES: Final = 1 << 20
RENEWED_AFTER: Final = timedelta(hours=1)
RETRIES: Final["RetryConfig"] = {"max_retries": 4, "retry_timeout": timedelta(seconds=30)}


@dataclass(frozen=True)
class StoredBlob:
    """A blob by its digest: its compressed size, and when it was stored last, in seconds since the epoch."""

    digest: str
    size_bytes: int
    stored: float


class Container(ABC):
    """A place for blobs, by name: `ab/cdef…` for the digest `abcdef…`. Its methods may be called from any thread."""

    @abstractmethod
    def describe(self, name: str) -> str:
        """Return the address of the content of that name, for messages."""

    @abstractmethod
    def read(self, name: str) -> bytes | None:
        """Return the content of that name, None if there is none; raises `EnvironmentMissing`."""

    @abstractmethod
    def open(self, name: str) -> BinaryIO | None:
        """Return the content of that name as a file to read, None if there is none; raises `EnvironmentMissing`."""

    @abstractmethod
    def has(self, name: str) -> bool:
        """Return whether there is content of that name, damaged or not; raises `EnvironmentMissing`."""

    @abstractmethod
    def write(self, name: str, content: BinaryIO) -> None:
        """Write the content of a file atomically, replacing older content; raises `EnvironmentMissing`."""

    @abstractmethod
    def renew(self, name: str, content: BinaryIO) -> None:
        """Give content that is there the present time, at least to the hour; raises `EnvironmentMissing`."""

    @abstractmethod
    def stored(self) -> Iterator["StoredBlob"]:
        """Yield all blobs; raises `EnvironmentMissing`."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove the content of that name, if it is there; raises `EnvironmentMissing`."""


class Blobs:
    """Content by its digest, compressed with zlib and verified when read."""

    def __init__(self, container: Container) -> None:
        self._container = container

    def put(self, content: bytes) -> str:
        """Store `content` and return its digest (SHA-256, hexadecimal); equal content is stored once.

        The write is atomic. Raises `EnvironmentMissing` if the content cannot be written.
        """
        digest = hashlib.sha256(content).hexdigest()
        name = _name_of(digest)
        stored = self._container.read(name)
        if stored is not None and _decompressed(stored) == content:
            self._container.renew(name, io.BytesIO(stored))
        else:
            self._container.write(name, io.BytesIO(zlib.compress(content, COMPRESSION_LEVEL)))
        return digest

    def put_file(self, content: BinaryIO) -> str:
        """Store what a file has from its place on, as `put` does; it is never in memory as a whole."""
        with tempfile.TemporaryFile() as packed:
            hashed, packer, size_bytes = hashlib.sha256(), zlib.compressobj(COMPRESSION_LEVEL), 0
            while piece := content.read(UNPACKED_PIECE_BYTES):
                hashed.update(piece)
                packed.write(packer.compress(piece))
                size_bytes += len(piece)
            packed.write(packer.flush())
            packed.seek(0)
            digest = hashed.hexdigest()
            self._write_unless_stored(digest, packed, size_bytes)
        return digest

    def put_packed(self, digest: str, packed: BinaryIO, most_bytes: int) -> bool:
        """Store content that is compressed with zlib already, as others send it; it is never unpacked as a whole.

        Returns false, and stores nothing, if it does not match its digest, or has more than `most_bytes` unpacked.
        Raises `EnvironmentMissing` if it cannot be written, `ValueError` for an invalid digest.
        """
        _name_of(digest)
        packed.seek(0)
        if not _matches(packed, digest, most_bytes):
            return False
        packed.seek(0)
        self._write_unless_stored(digest, packed, most_bytes)
        return True

    def _write_unless_stored(self, digest: str, packed: BinaryIO, most_bytes: int) -> None:
        """Write compressed content, from the place of its file on, unless it is stored undamaged."""
        if not self.renew(digest, most_bytes):
            self._container.write(_name_of(digest), packed)

    def renew(self, digest: str, most_bytes: int) -> bool:
        """Note that content of at most so many bytes is used, so that it is kept; return whether it is there undamaged.

        Raises `EnvironmentMissing` if it cannot be noted, `ValueError` for an invalid digest.
        """
        name = _name_of(digest)
        stored = self._container.open(name)
        if stored is None:
            return False
        with stored:
            if not _matches(stored, digest, most_bytes):
                return False
            stored.seek(0)
            self._container.renew(name, stored)
        return True

    def stored(self) -> Iterator[StoredBlob]:
        """Yield all blobs, in no order; raises `EnvironmentMissing`."""
        return self._container.stored()

    def remove(self, digest: str) -> None:
        """Remove the content with that digest, if it is there; raises `EnvironmentMissing`, `ValueError`."""
        self._container.remove(_name_of(digest))

    def has(self, digest: str) -> bool:
        """Return whether there is content with that digest; raises `ValueError` for an invalid digest."""
        return self._container.has(_name_of(digest))

    def get(self, digest: str) -> bytes:
        """Return the content with that digest.

        Raises `BlobDamaged` if the content is missing or does not match, `ValueError` for an invalid digest.
        """
        name = _name_of(digest)
        stored = self._container.read(name)
        if stored is None:
            raise BlobDamaged(f"the store holds no blob {digest}", hint="measure again to record it")
        content = _decompressed(stored)
        if content is None or hashlib.sha256(content).hexdigest() != digest:
            address = self._container.describe(name)
            raise BlobDamaged(f"the blob {address} is damaged", hint=f"remove {address} and measure again")
        return content


class FileContainer(Container):
    """Files in a directory, which is created with the first file; unless `flushes`, a loss of power may damage them."""

    def __init__(self, directory: Path, *, flushes: bool = True) -> None:
        self._directory = directory
        self._flushes = flushes

    def describe(self, name: str) -> str:
        """Return the path of the file."""
        return str(self._directory / name)

    def read(self, name: str) -> bytes | None:
        """Read the file."""
        with store_faults(self.describe(name)):
            try:
                return (self._directory / name).read_bytes()
            except FileNotFoundError:
                return None

    def open(self, name: str) -> BinaryIO | None:
        """Open the file."""
        with store_faults(self.describe(name)):
            try:
                return (self._directory / name).open("rb")
            except FileNotFoundError:
                return None

    def has(self, name: str) -> bool:
        """Look for the file."""
        with store_faults(self.describe(name)):
            return (self._directory / name).is_file()

    def write(self, name: str, content: BinaryIO) -> None:
        """Write the file under another name, then rename it; content and name are on the disk when this returns."""
        path = self._directory / name
        with store_faults(str(self._directory)):
            path.parent.mkdir(parents=True, exist_ok=True)
            keep_from_git(self._directory.parent)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    shutil.copyfileobj(content, file, PIECE_BYTES)
                    file.flush()
                    if self._flushes:
                        os.fsync(file.fileno())
                Path(temporary).replace(path)
            finally:
                Path(temporary).unlink(missing_ok=True)
            if self._flushes:
                _sync_directory(path.parent)

    def renew(self, name: str, content: BinaryIO) -> None:
        """Set the time of the file."""
        with store_faults(self.describe(name)):
            os.utime(self._directory / name)

    def stored(self) -> Iterator[StoredBlob]:
        """List the files."""
        with store_faults(str(self._directory)):
            for path in self._directory.glob("[0-9a-f][0-9a-f]/*"):
                digest = path.parent.name + path.name
                if DIGEST.fullmatch(digest) is None:
                    continue
                # Another process may remove it.
                with suppress(FileNotFoundError):
                    state = path.stat()
                    yield StoredBlob(digest, state.st_size, state.st_mtime)

    def remove(self, name: str) -> None:
        """Remove the file."""
        with store_faults(self.describe(name)):
            (self._directory / name).unlink(missing_ok=True)


class Objects(Container):
    """Objects of an S3-compatible store, or another that obstore supports, under the prefix of its URL."""

    def __init__(self, address: str, objects: "ObjectStore") -> None:
        self._address = address.rstrip("/")
        self._objects = objects

    @classmethod
    def at(cls, url: str) -> "Objects":
        """Return the objects below a URL such as `s3://bucket/prefix`; raises `UsageError`.

        Credentials, region and endpoint come from the environment: AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL, …
        """
        from obstore.exceptions import BaseError
        from obstore.store import from_url

        try:
            return cls(url, from_url(url, retry_config=RETRIES))
        except (BaseError, ValueError) as fault:
            raise UsageError(
                f"cannot store blobs at {url!r}: {_reason_of(fault)}", hint="write blobs=s3://BUCKET/PREFIX"
            ) from fault

    def describe(self, name: str) -> str:
        """Return the URL of the object."""
        return f"{self._address}/{name}"

    def read(self, name: str) -> bytes | None:
        """Download the object."""
        from obstore.exceptions import NotFoundError

        with self._faults("read"):
            try:
                return bytes(self._objects.get(name).bytes())
            except (FileNotFoundError, NotFoundError):
                return None

    def open(self, name: str) -> BinaryIO | None:
        """Download the object to a temporary file."""
        from obstore.exceptions import NotFoundError

        with self._faults("read"):
            try:
                pieces = self._objects.get(name).stream(min_chunk_size=UNPACKED_PIECE_BYTES)
                file = tempfile.TemporaryFile()  # noqa: SIM115, as the caller closes it
                for piece in pieces:
                    file.write(bytes(piece))
            except (FileNotFoundError, NotFoundError):
                return None
        file.seek(0)
        return file

    def has(self, name: str) -> bool:
        """Ask for the object's size."""
        from obstore.exceptions import NotFoundError

        with self._faults("read"):
            try:
                self._objects.head(name)
                return True
            except (FileNotFoundError, NotFoundError):
                return False

    def write(self, name: str, content: BinaryIO) -> None:
        """Upload the object, which becomes visible when it is complete."""
        with self._faults("write to"):
            self._objects.put(name, content)

    def renew(self, name: str, content: BinaryIO) -> None:
        """Upload the object again if it is old: its time cannot be set."""
        with self._faults("write to"):
            age = datetime.now(UTC) - self._objects.head(name)["last_modified"]
        if age > RENEWED_AFTER:
            self.write(name, content)

    def stored(self) -> Iterator[StoredBlob]:
        """List the objects."""
        with self._faults("read"):
            for batch in self._objects.list():
                for described in batch:
                    digest = described["path"].replace("/", "")
                    if DIGEST.fullmatch(digest) is not None:
                        yield StoredBlob(digest, described["size"], described["last_modified"].timestamp())

    def remove(self, name: str) -> None:
        """Delete the object."""
        from obstore.exceptions import NotFoundError

        with self._faults("write to"), suppress(FileNotFoundError, NotFoundError):
            self._objects.delete(name)

    @contextmanager
    def _faults(self, action: str) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, OSError) as fault:
            raise EnvironmentMissing(
                f"cannot {action} the blobs at {self._address}: {_reason_of(fault)}",
                hint="correct blobs= in --store, or the credentials and the endpoint in the environment (AWS_…)",
            ) from fault


def open_blobs(location: str | None, directory: Path) -> Blobs:
    """Return the blobs at a location: a URL, a directory, or by default the given directory; raises `UsageError`."""
    if location is None:
        return Blobs(FileContainer(directory))
    if location.startswith("file://"):
        return Blobs(FileContainer(Path(location.removeprefix("file://"))))
    if "://" in location:
        return Blobs(Objects.at(location))
    if not location:
        raise UsageError("no place for blobs", hint="write blobs=s3://BUCKET/PREFIX or blobs=DIRECTORY")
    return Blobs(FileContainer(Path(location)))


def _name_of(digest: str) -> str:
    if DIGEST.fullmatch(digest) is None:
        raise ValueError(f"not a digest: {digest!r}")
    return f"{digest[:2]}/{digest[2:]}"


def _decompressed(stored: bytes | None) -> bytes | None:
    """Return the content, None if there is none or it cannot be decompressed."""
    try:
        return None if stored is None else zlib.decompress(stored)
    except zlib.error:
        return None


def _matches(packed: BinaryIO, digest: str, most_bytes: int) -> bool:
    """Whether what a file has, from its place to its end, is compressed content with that digest, and no more."""
    unpacker, hashed, size_bytes = zlib.decompressobj(), hashlib.sha256(), 0
    try:
        while piece := packed.read(PIECE_BYTES):
            while True:
                content = unpacker.decompress(piece, UNPACKED_PIECE_BYTES)
                size_bytes += len(content)
                hashed.update(content)
                if size_bytes > most_bytes or unpacker.unused_data:
                    return False
                piece = unpacker.unconsumed_tail
                # It may have taken in all, and not have given out all.
                if not piece and len(content) < UNPACKED_PIECE_BYTES:
                    break
    except zlib.error:
        return False
    return unpacker.eof and hashed.hexdigest() == digest


def _reason_of(fault: BaseException) -> str:
    """Return the first line of obstore's message; the others are for its developers."""
    return str(fault).strip().partition("\n")[0]


def _sync_directory(directory: Path) -> None:
    """Make a rename in `directory` survive a power failure."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
