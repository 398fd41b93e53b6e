"""What can be measured with the load on another machine."""

from collections.abc import Iterable

from zerolap.build import Program
from zerolap.load import OWN_TOOL
from zerolap.records import CaseRefused, TrialsJob


def require_standalone(job: TrialsJob, programs: Iterable[Program]) -> None:
    """Raise `CaseRefused` for a job whose load cannot come from another machine, with the reason."""
    for server in job.servers.values():
        topology = server.topology
        if topology.is_cluster or topology.replicas or topology.transport == "tls":
            raise CaseRefused(
                f"the load is to come from another machine, which reaches a standalone server and not the topology "
                f"`{topology.name}`"
            )
    if job.load_tool not in (None, OWN_TOOL):
        raise CaseRefused(
            f"the load is to come from another machine, on which `{OWN_TOOL}` sends it and not `{job.load_tool}`"
        )
    if not all(program.takes_settings for program in programs):
        raise CaseRefused(
            "the load is to come from another machine, and a start command with a socket cannot be given a port"
        )
