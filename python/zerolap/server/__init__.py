"""Starts the servers of a build in a topology, and connects to them."""

from zerolap.server.ability_queries import (
    command_flags as command_flags,
    known_commands as known_commands,
    server_abilities as server_abilities,
)
from zerolap.server.command_usage import case_weights as case_weights, usage_weights as usage_weights
from zerolap.server.connection import (
    CommandConnection as CommandConnection,
    CommandRefused as CommandRefused,
    number_in as number_in,
    parts_of as parts_of,
)
from zerolap.server.deployment import Deployment as Deployment, Reach as Reach, deploy as deploy
from zerolap.server.machine_port import MachinePort as MachinePort, open_port as open_port
from zerolap.server.node import Node as Node
from zerolap.server.resident_memory import (
    AnonymousMemory as AnonymousMemory,
    read_anonymous_memory as read_anonymous_memory,
    read_resident_bytes as read_resident_bytes,
)
from zerolap.server.running_server import (
    Launch as Launch,
    RunningServer as RunningServer,
    first_dead as first_dead,
    named_death as named_death,
    start as start,
)
from zerolap.server.server_login import ServerLogin as ServerLogin, read_login as read_login
from zerolap.server.statistics import (
    ROW as ROW,
    KeyLookUps as KeyLookUps,
    ServerStatistics as ServerStatistics,
    StatisticsReader as StatisticsReader,
    SummedStatistics as SummedStatistics,
    rows_of as rows_of,
)
from zerolap.server.tcp_connections import (
    TcpCounts as TcpCounts,
    counted_meanwhile as counted_meanwhile,
    read_tcp_counts as read_tcp_counts,
)
from zerolap.server.threads import (
    CpuTimes as CpuTimes,
    count_sockets as count_sockets,
    demand_since as demand_since,
    is_asleep as is_asleep,
    read_cpu_times as read_cpu_times,
    read_demands_ns as read_demands_ns,
    read_total_ns as read_total_ns,
    thread_names as thread_names,
)
from zerolap.server.used_memory import (
    UsedMemory as UsedMemory,
    read_client_memory as read_client_memory,
    read_used_memory as read_used_memory,
    remove_all_keys as remove_all_keys,
)
