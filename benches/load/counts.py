"""Whether the load generator counts what a server that counts as well has seen."""

import json
from dataclasses import dataclass
from typing import Any

from benches.figures import Figure
from benches.load.effort import Effort
from benches.load.process import run_client
from benches.load.scripted import build, scripted_server
from benches.load.tools import OWN
from zerolap.load.generator import packaged

THREADS = 4
CONNECTIONS = 5
REQUESTS = 10_007
"""Requests of each connection: no multiple of a pipeline, nor of the commands' turns."""
COMMANDS = {
    "SET __key__ __data__": 2,
    "GET __key__": 5,
    "HSET h:__key__ field __data__": 1,
    "LRANGE list 0 9": 3,
}
SERVER_ARGUMENTS = ("--error-every", "7", "--error", r"-WRONGTYPE scripted\r\n")
ERROR_CODE = "WRONGTYPE"


@dataclass(frozen=True)
class Count:
    """One count, by the load generator and by the server."""

    name: str
    reported: Any
    truth: Any

    @property
    def is_equal(self) -> bool:
        """Whether both are the same."""
        return bool(self.reported == self.truth)


def count_errors(effort: Effort) -> dict[str, Figure]:
    """Send several commands, some of which fail, over many connections, and compare all counts."""
    with scripted_server(build(), *SERVER_ARGUMENTS) as server:
        command = [str(packaged(OWN)), "-s", "127.0.0.1", "-p", str(server.port), "--pipeline", "16"]
        command += ["-t", str(THREADS), "-c", str(CONNECTIONS), "-n", str(REQUESTS), "--json-out-file", "-"]
        for line, ratio in COMMANDS.items():
            command += ["--command", line, "--command-ratio", str(ratio)]
        document = json.loads(run_client(command).output)
    counts = compare(document, server.counts)
    differing = [count for count in counts if not count.is_equal]
    return {
        "count_errors": Figure(
            value=len(differing),
            unit=f"of {len(counts)} counts differ",
            samples=[{"count": count.name, "told": count.reported, "truth": count.truth} for count in counts],
            trials=1,
            notes=[
                *(f"{count.name}: reported {count.reported}, in truth {count.truth}" for count in differing),
                *effort.notes,
            ],
        )
    }


def compare(document: dict[str, Any], truth: dict[str, Any]) -> list[Count]:
    """Put every count of a document beside the server's."""
    lab, totals = document["lab"], document["ALL STATS"]["Totals"]
    succeeded = truth["replies"] - truth["errors"]
    names = [line.split()[0] for line in COMMANDS]
    counts = [
        Count("requests asked for", THREADS * CONNECTIONS * REQUESTS, truth["requests"]),
        Count("connections", lab["settings"]["connections"], truth["connections"]),
        Count("requests", lab["requests"], truth["requests"]),
        Count("succeeded", lab["succeeded"], succeeded),
        Count("errors by code", lab["errors"], {ERROR_CODE: truth["errors"]}),
        Count("error replies", lab["replies"]["error"], truth["errors"]),
        Count("status replies", lab["replies"]["status"], succeeded),
        Count("all replies", sum(lab["replies"].values()), truth["replies"]),
        Count("bytes sent", lab["bytes_sent"], truth["bytes_received"]),
        Count("bytes received", lab["bytes_received"], truth["bytes_sent"]),
        Count("Totals: Count", totals["Count"], truth["replies"]),
        Count("Totals: Errors", totals["Errors"], truth["errors"]),
        Count("latencies", sum(count for _, count in lab["histogram_ns"]), truth["replies"]),
        Count("replies in the timeline", sum(slot["replies"] for slot in lab["timeline"]["slots"]), truth["replies"]),
        Count("errors in the timeline", sum(slot["errors"] for slot in lab["timeline"]["slots"]), truth["errors"]),
    ]
    commands = {command["command"]: command for command in lab["commands"]}
    for name in names:
        counts.append(Count(f"{name}: requests", commands[name]["requests"], truth["commands"].get(name, 0)))
    for quantity, expected in (("succeeded", succeeded), ("bytes_sent", truth["bytes_received"])):
        counts.append(Count(f"{quantity} of all commands", sum(one[quantity] for one in commands.values()), expected))
    errors = sum(one["errors"].get(ERROR_CODE, 0) for one in commands.values())
    received = sum(one["bytes_received"] for one in commands.values())
    counts.append(Count("errors of all commands", errors, truth["errors"]))
    counts.append(Count("bytes_received of all commands", received, truth["bytes_sent"]))
    counts.append(Count("other commands", sorted(set(truth["commands"]) - set(names)), []))
    return counts
