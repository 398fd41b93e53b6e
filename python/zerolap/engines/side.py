"""One side for the engines that watch a server at full speed: started, filled, pinned, with its load generator."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import replace

from zerolap.build import Program
from zerolap.engines.server_trial import PinnedTrial, deployed, deployed_at, filled
from zerolap.engines.shared_start import SharedStart
from zerolap.engines.slices import TimedSide
from zerolap.load import OWN_TOOL, LoadGenerator, LoadHost, Target, load_program, prepare, timed_arguments
from zerolap.records import CaseRefused, Check, Side, TrialsJob
from zerolap.server import Deployment, SummedStatistics, named_death


def set_up(
    stack: contextlib.ExitStack, trial: PinnedTrial, load_host: LoadHost | None = None
) -> tuple[TimedSide, list[Check]]:
    """Start and fill a server, connect a load generator to it, on this machine or the load host; both end with `stack`.

    Returns the checks of the keyspace too. Raises `TrialFailed` with the server's log.
    """
    deployment, generator = stack.enter_context(_deployed(trial, load_host))
    return _filled_side(stack, trial, deployment, generator)


def set_up_shared(
    stack: contextlib.ExitStack, trial: PinnedTrial, side: Side, shared: SharedStart
) -> tuple[TimedSide, list[Check]]:
    """Fill the server of a start that several cases share, as `set_up`; it outlives `stack`."""
    deployment = shared.deployment(
        side, lambda directory: deployed(replace(trial, directory=directory), trial.server.topology)
    )
    filled_side, checks = _filled_side(stack, trial, deployment, _load_of(trial, deployment))
    stack.callback(filled_side.thaw)
    return filled_side, checks


def _filled_side(
    stack: contextlib.ExitStack,
    trial: PinnedTrial,
    deployment: Deployment,
    generator: contextlib.AbstractContextManager[LoadGenerator],
) -> tuple[TimedSide, list[Check]]:
    case, target = trial.case, Target.of(deployment)

    def refill() -> None:
        target.remove_keys()
        prepare(target, case, trial.seed, trial.load_log)
        deployment.wait_for_replicas()

    data = stack.enter_context(filled(trial, deployment, target, processors=trial.pinning.client))
    servers = [node.server for node in deployment.nodes]
    with named_death(*servers):
        load = stack.enter_context(generator)
        statistics = SummedStatistics([primary.statistics(case.verbs) for primary in target.primaries])
        stack.callback(statistics.close)
    processes = [node.process for node in deployment.nodes]
    return TimedSide(servers, processes, load, statistics, data.beside, case, refill), data.checks


@contextlib.contextmanager
def _deployed(
    trial: PinnedTrial, load_host: LoadHost | None
) -> Iterator[tuple[Deployment, contextlib.AbstractContextManager[LoadGenerator]]]:
    """Start a side's servers, and give its load generator, to be entered once they are filled."""
    case, seed = trial.case, trial.seed
    if load_host is None:
        with deployed(trial, trial.server.topology) as deployment:
            yield deployment, _load_of(trial, deployment)
    else:
        with deployed_at(trial, load_host.address) as (deployment, port):
            if deployment.nodes[0].server.load_login is not None:
                raise CaseRefused("a load host does not log in to a server that asks for a password")
            yield deployment, load_host.start(case, seed, port.number)


def _load_of(trial: PinnedTrial, deployment: Deployment) -> contextlib.AbstractContextManager[LoadGenerator]:
    arguments = timed_arguments(trial.case.client, trial.seed, trial.pinning.client)
    return load_program(Target.of(deployment).reach, trial.load_log, arguments)


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
