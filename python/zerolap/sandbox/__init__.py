"""The sandbox of code under test: a private network, no access to files of the lab, limits, an end with the lab."""

from zerolap.sandbox import confined_reader as confined_reader
from zerolap.sandbox.cancellation import (
    Cancellation as Cancellation,
    OwnedWork as OwnedWork,
    current_cancellation as current_cancellation,
    limited as limited,
)
from zerolap.sandbox.confinement import (
    Confinement as Confinement,
    Network as Network,
    SandboxPolicy as SandboxPolicy,
    available as available,
    namespaces_remedy as namespaces_remedy,
    require_sandbox as require_sandbox,
)
from zerolap.sandbox.control_group import usable_parents as usable_parents
from zerolap.sandbox.limits import (
    LimitReached as LimitReached,
    Limits as Limits,
    build_limits as build_limits,
    descendants as descendants,
    server_limits as server_limits,
    used_bytes as used_bytes,
)
from zerolap.sandbox.network import network_missing as network_missing, private_network as private_network
from zerolap.sandbox.process import Process as Process, is_readable as is_readable, launch as launch
from zerolap.sandbox.scratch import remove_abandoned as remove_abandoned, scratch_directory as scratch_directory
from zerolap.sandbox.socket_directory import prepared_socket as prepared_socket, socket_path as socket_path
from zerolap.sandbox.untrusted_files import (
    FileEntry as FileEntry,
    FileRefused as FileRefused,
    is_regular_file as is_regular_file,
    read_file as read_file,
    remove as remove,
    walk as walk,
)
