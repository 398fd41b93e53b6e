"""Content named by its digest: logs, profiles, histograms."""

import hashlib
import os
import re
import tempfile
import zlib
from pathlib import Path

from zerolap.store.faults import BlobDamaged, told

DIGEST = re.compile(r"[0-9a-f]{64}")
COMPRESSION_LEVEL = 6


class Blobs:
    """Files under one directory, `ab/cdef…` for the digest `abcdef…`, compressed with zlib."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def put(self, content: bytes) -> str:
        """Keep `content` and return its digest (SHA-256, hexadecimal); the same content is stored once.

        The file appears complete or not at all. Raises `EnvironmentMissing` where the disk is full or read-only.
        """
        digest = hashlib.sha256(content).hexdigest()
        path = self._path(digest)
        with told(self._directory):
            if _content_of(path) != content:
                _write_atomically(path, zlib.compress(content, COMPRESSION_LEVEL))
        return digest

    def get(self, digest: str) -> bytes:
        """Return the content with that digest.

        Raises `BlobDamaged` where the file is missing or holds something else, `ValueError` for what is no digest.
        """
        path = self._path(digest)
        with told(path):
            content = _content_of(path)
        if content is not None and hashlib.sha256(content).hexdigest() == digest:
            return content
        if not path.exists():
            raise BlobDamaged(f"the store holds no blob {digest}", hint="measure again to record it anew")
        raise BlobDamaged(f"the blob {path} is damaged", hint="remove the file and measure again")

    def _path(self, digest: str) -> Path:
        if DIGEST.fullmatch(digest) is None:
            raise ValueError(f"not a digest: {digest!r}")
        return self._directory / digest[:2] / digest[2:]


def _content_of(path: Path) -> bytes | None:
    """Return what the file holds, or None where there is none or it cannot be decompressed."""
    try:
        return zlib.decompress(path.read_bytes())
    except (FileNotFoundError, zlib.error):
        return None


def _write_atomically(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)
    _sync_directory(path.parent)


def _sync_directory(directory: Path) -> None:
    """Make a rename in `directory` survive a power failure."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
