"""The certificates of a fleet: an authority of its own, and the certificate of the bus."""

import datetime
import ipaddress
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CERTIFICATE: Final = "server.pem"
CERTIFICATE_KEY: Final = "server.key"
LOCAL_NAMES: Final = ("localhost", "127.0.0.1", "::1")
VALID_DAYS: Final = 3650
RENEWED_DAYS: Final = 365
"""A certificate that is valid for fewer days is replaced when the files of a fleet are made again."""
OWNER_ONLY: Final = 0o600


def make_certificates(directory: Path, names: Sequence[str]) -> str:
    """Make `ca.pem` and `server.pem` with their keys in a directory, and return the PEM text of the authority's.

    They are kept if they are there, and the server's also has these names and IP addresses and will not expire soon.
    """
    wanted = list(dict.fromkeys([*LOCAL_NAMES, *names]))
    authority_path, authority_key_path = directory / "ca.pem", directory / "ca.key"
    if authority_path.exists() and authority_key_path.exists():
        authority = x509.load_pem_x509_certificate(authority_path.read_bytes())
        authority_key = _read_key(authority_key_path)
    else:
        authority_key = ec.generate_private_key(ec.SECP256R1())
        authority = _authority(authority_key)
        _write_key(authority_key_path, authority_key)
        authority_path.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    if not _is_good(directory / CERTIFICATE, directory / CERTIFICATE_KEY, authority, wanted):
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = _of_server(key, authority, authority_key, wanted)
        _write_key(directory / CERTIFICATE_KEY, key)
        (directory / CERTIFICATE).write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return authority_path.read_text()


def _is_good(path: Path, key_path: Path, authority: x509.Certificate, names: list[str]) -> bool:
    if not (path.exists() and key_path.exists()):
        return False
    certificate = x509.load_pem_x509_certificate(path.read_bytes())
    extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    left = certificate.not_valid_after_utc - datetime.datetime.now(datetime.UTC)
    return (
        list(extension.value) == _general_names(names)
        and certificate.issuer == authority.subject
        and left > datetime.timedelta(days=RENEWED_DAYS)
    )


def _authority(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    # Two authorities are to differ by name, so that a certificate of an earlier one is noticed.
    number = x509.random_serial_number()
    name = _name(f"zerolap fleet {number:x}"[:40])
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    return (
        _valid(x509.CertificateBuilder())
        .serial_number(number)
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )


def _of_server(
    key: ec.EllipticCurvePrivateKey,
    authority: x509.Certificate,
    authority_key: ec.EllipticCurvePrivateKey,
    names: list[str],
) -> x509.Certificate:
    identifier = authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    return (
        _valid(x509.CertificateBuilder())
        .serial_number(x509.random_serial_number())
        .subject_name(_name("zerolap bus"))
        .issuer_name(authority.subject)
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(_general_names(names)), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
        .sign(authority_key, hashes.SHA256())
    )


def _valid(builder: x509.CertificateBuilder) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    # The clock of an agent may be behind.
    return builder.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(
        now + datetime.timedelta(days=VALID_DAYS)
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _general_names(names: list[str]) -> list[x509.GeneralName]:
    return [_general_name(name) for name in names]


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _read_key(path: Path) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ValueError(f"{path} is not a key of an elliptic curve")
    return key


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    content = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY), "wb") as file:
        file.write(content)
