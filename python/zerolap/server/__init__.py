"""Starts the servers of a build in a topology, and connects to them."""

from zerolap.server.ability_queries import command_flags, server_abilities
from zerolap.server.command_statistics import is_endpoint, read_command_statistics
from zerolap.server.connection import CommandRefused, number_in, parts_of
from zerolap.server.deployment import Deployment, Reach, deploy
from zerolap.server.frames import FrameBounds, FrameReader, Reply, ReplyError, ServerLost, UnreadableReply, written
from zerolap.server.machine_port import MachinePort, open_port
from zerolap.server.node import Node, NodeLaunch
from zerolap.server.resident_memory import AnonymousMemory, read_anonymous_memory, read_resident_bytes
from zerolap.server.running_server import Launch, RunningServer, first_dead, named_death, start
from zerolap.server.server_login import ServerLogin, read_login
from zerolap.server.statistics import (
    KeyLookUps,
    ServerStatistics,
    StatisticsReader,
    SummedStatistics,
    look_ups_between,
    rows_of,
)
from zerolap.server.tcp_connections import TcpCounts, counted_meanwhile, read_tcp_counts
from zerolap.server.threads import (
    CpuTimes,
    count_sockets,
    demand_since,
    is_asleep,
    read_cpu_times,
    read_demands_ns,
    read_total_ns,
    thread_names,
)

__all__ = [
    "AnonymousMemory",
    "CommandRefused",
    "CpuTimes",
    "Deployment",
    "FrameBounds",
    "FrameReader",
    "KeyLookUps",
    "Launch",
    "MachinePort",
    "Node",
    "NodeLaunch",
    "Reach",
    "Reply",
    "ReplyError",
    "RunningServer",
    "ServerLogin",
    "ServerLost",
    "ServerStatistics",
    "StatisticsReader",
    "SummedStatistics",
    "TcpCounts",
    "UnreadableReply",
    "command_flags",
    "count_sockets",
    "counted_meanwhile",
    "demand_since",
    "deploy",
    "first_dead",
    "is_asleep",
    "is_endpoint",
    "look_ups_between",
    "named_death",
    "number_in",
    "open_port",
    "parts_of",
    "read_anonymous_memory",
    "read_command_statistics",
    "read_cpu_times",
    "read_demands_ns",
    "read_login",
    "read_resident_bytes",
    "read_tcp_counts",
    "read_total_ns",
    "rows_of",
    "server_abilities",
    "start",
    "thread_names",
    "written",
]
