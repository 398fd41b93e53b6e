"""Build, topology and settings in, running servers out."""

from zerolap.server.deployment import Deployment, Reach, deploy
from zerolap.server.frames import FrameReader, Reply, ReplyError, written
from zerolap.server.machine_port import MachinePort, open_port
from zerolap.server.memory import read_resident_bytes
from zerolap.server.node import Node, NodeLaunch
from zerolap.server.running import Launch, RunningServer, start
from zerolap.server.threads import (
    CpuTimes,
    count_sockets,
    demand_since,
    is_asleep,
    is_running,
    read_cpu_times,
    read_demands_ns,
    read_total_ns,
)

__all__ = [
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
    "count_sockets",
    "demand_since",
    "deploy",
    "is_asleep",
    "is_running",
    "open_port",
    "read_cpu_times",
    "read_demands_ns",
    "read_resident_bytes",
    "read_total_ns",
    "start",
    "written",
]
