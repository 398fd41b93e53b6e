"""Build, topology and settings in, running servers out."""

from zerolap.server.connection import CommandRefused, number_in, parts_of
from zerolap.server.deployment import Deployment, Reach, deploy
from zerolap.server.frames import Bounds, FrameReader, Reply, ReplyError, ServerLost, UnreadableReply, written
from zerolap.server.machine_port import MachinePort, open_port
from zerolap.server.memory import read_resident_bytes
from zerolap.server.node import Node, NodeLaunch
from zerolap.server.running import Launch, RunningServer, first_dead, named_death, start
from zerolap.server.threads import (
    CpuTimes,
    count_sockets,
    demand_since,
    is_asleep,
    read_cpu_times,
    read_demands_ns,
    read_total_ns,
)

__all__ = [
    "Bounds",
    "CommandRefused",
    "CpuTimes",
    "Deployment",
    "FrameReader",
    "Launch",
    "MachinePort",
    "Node",
    "NodeLaunch",
    "Reach",
    "Reply",
    "ReplyError",
    "RunningServer",
    "ServerLost",
    "UnreadableReply",
    "count_sockets",
    "demand_since",
    "deploy",
    "first_dead",
    "is_asleep",
    "named_death",
    "number_in",
    "open_port",
    "parts_of",
    "read_cpu_times",
    "read_demands_ns",
    "read_resident_bytes",
    "read_total_ns",
    "start",
    "written",
]
