"""Certificates of one trial: a private authority, and a server certificate for the loopback."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from zerolap.records import EnvironmentMissing

OPENSSL_SECONDS = 30
DAYS = "30"
NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
# Not the machine's own file, which differs between systems and may be missing.
CONFIGURATION = """
[req]
distinguished_name = name
prompt = no
[name]
CN = zerolap
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = DNS:localhost, IP:127.0.0.1
"""


@dataclass(frozen=True)
class Certificates:
    """The PEM files that a server and its clients need."""

    authority: Path
    certificate: Path
    key: Path


def make_certificates(directory: Path) -> Certificates:
    """Make an authority and a server certificate in a directory.

    Raises `EnvironmentMissing` if `openssl` is not installed or fails.
    """
    configuration = directory / "openssl.cnf"
    configuration.write_text(CONFIGURATION)
    authority, authority_key = directory / "authority.crt", directory / "authority.key"
    certificate, key, request = directory / "server.crt", directory / "server.key", directory / "server.csr"
    new_key = ["req", *NEW_KEY, "-config", str(configuration)]
    self_signed = ["-x509", "-extensions", "authority", "-days", DAYS]
    _openssl([*new_key, *self_signed, "-subj", "/CN=Zerolap", "-keyout", str(authority_key), "-out", str(authority)])
    _openssl([*new_key, "-new", "-subj", "/CN=localhost", "-keyout", str(key), "-out", str(request)])
    signed = ["-CA", str(authority), "-CAkey", str(authority_key), "-set_serial", "2", "-days", DAYS]
    extensions = ["-extfile", str(configuration), "-extensions", "server"]
    _openssl(["x509", "-req", "-in", str(request), *signed, *extensions, "-out", str(certificate)])
    authority_key.unlink()
    return Certificates(authority, certificate, key)


def _openssl(arguments: Sequence[str]) -> None:
    hint = "install the package openssl, or choose another topology"
    try:
        done = subprocess.run(
            ["openssl", *arguments], capture_output=True, text=True, timeout=OPENSSL_SECONDS, check=False
        )
    except FileNotFoundError as missing:
        raise EnvironmentMissing("no certificates for TLS: `openssl` is not installed", hint=hint) from missing
    except subprocess.TimeoutExpired as late:
        raise EnvironmentMissing(f"`openssl` made no certificate within {OPENSSL_SECONDS} s") from late
    if done.returncode != 0:
        raise EnvironmentMissing("`openssl` cannot make certificates", details=done.stderr.strip())
