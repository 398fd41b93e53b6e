"""Certificates of one trial: a private authority, and a server certificate for the loopback."""

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from zerolap.server.ports import ADDRESS

VALID: Final = datetime.timedelta(days=30)
PEM: Final = serialization.Encoding.PEM


@dataclass(frozen=True)
class Certificates:
    """The PEM files that a server and its clients need."""

    authority: Path
    certificate: Path
    key: Path


def make_certificates(directory: Path) -> Certificates:
    """Make an authority and a server certificate in a directory; nobody keeps the authority's key."""
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    certificates = Certificates(directory / "authority.crt", directory / "server.crt", directory / "server.key")
    authority = _certificate("Zerolap", 1, authority_key).add_extension(
        x509.BasicConstraints(ca=True, path_length=None), critical=True
    )
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address(ADDRESS))]
    server = (
        _certificate("localhost", 2, key)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
    )
    for path, builder in ((certificates.authority, authority), (certificates.certificate, server)):
        path.write_bytes(builder.sign(authority_key, hashes.SHA256()).public_bytes(PEM))
    certificates.key.touch(mode=0o600)
    plain = serialization.NoEncryption()
    certificates.key.write_bytes(key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, plain))
    return certificates


def _certificate(name: str, number: int, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    subject, issuer = (x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)]) for common in (name, "Zerolap"))
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(number)
        .not_valid_before(now)
        .not_valid_after(now + VALID)
    )
