"""The sandbox of code under test: a private network, no access to files of the lab, limits, an end with the lab."""

from zerolap.sandbox import confined_reading
from zerolap.sandbox.cancellation import Cancellation, current_cancellation, limited
from zerolap.sandbox.confinement import (
    Confinement,
    Network,
    SandboxPolicy,
    available,
    namespaces_remedy,
    require_sandbox,
)
from zerolap.sandbox.control_group import usable_parents
from zerolap.sandbox.limits import (
    LimitReached,
    Limits,
    build_limits,
    descendants,
    server_limits,
    used_bytes,
)
from zerolap.sandbox.network import network_missing, private_network
from zerolap.sandbox.process import Process, is_readable, launch
from zerolap.sandbox.scratch import remove_abandoned, scratch_directory
from zerolap.sandbox.socket_place import prepared_socket, short_directory, socket_path
from zerolap.sandbox.untrusted_files import FileEntry, FileRefused, is_regular_file, read_file, remove, walk

__all__ = [
    "Cancellation",
    "Confinement",
    "FileEntry",
    "FileRefused",
    "LimitReached",
    "Limits",
    "Network",
    "Process",
    "SandboxPolicy",
    "available",
    "build_limits",
    "confined_reading",
    "current_cancellation",
    "descendants",
    "is_readable",
    "is_regular_file",
    "launch",
    "limited",
    "namespaces_remedy",
    "network_missing",
    "prepared_socket",
    "private_network",
    "read_file",
    "remove",
    "remove_abandoned",
    "require_sandbox",
    "scratch_directory",
    "server_limits",
    "short_directory",
    "socket_path",
    "usable_parents",
    "used_bytes",
    "walk",
]
