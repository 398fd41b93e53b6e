"""The configuration of the bus, a nats-server, made from that of the fleet.

Each agent has an account of its own, into which nothing of the conductor's account is imported but the subjects that
this agent needs. Permissions alone would not keep agents apart: a request names the subject of its answer, on which the
server then publishes within the account of the agent, and asks for no permission.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from zerolap.fleet.setup.certificates import CERTIFICATE, CERTIFICATE_KEY
from zerolap.fleet.setup.configuration import CONDUCTOR, CONFIGURATION, AgentEntry, FleetConfiguration
from zerolap.records import PRIORITIES

PROCESS_NUMBER: Final = "bus.pid"
MAX_PAYLOAD_BYTES: Final = 8 << 20
"""The largest job, and the largest reply to an agent."""
MAX_AGENT_PAYLOAD_BYTES: Final = 1 << 20
"""The largest message of an agent; the bus closes the connection that sends a larger one."""
MOST_JOBS_BYTES: Final = 1 << 30
MOST_REPORTS_BYTES: Final = 64 << 20
"""The size of the stream of notices, and of the stream of jobs that were delivered too often."""
MOST_MEMORY_BYTES: Final = MOST_JOBS_BYTES + 4 * MOST_REPORTS_BYTES
MOST_FILES_BYTES: Final = 1 << 30
MOST_CONNECTIONS: Final = 8
"""Connections of an agent at a time: several, as the server notices late that one was lost."""
MOST_SUBSCRIPTIONS: Final = 256


def server_text(directory: Path, configuration: FleetConfiguration, passwords: Mapping[str, str]) -> str:
    """Return the configuration; agents without a password have a key."""
    accounts = [_conductor_account(passwords[CONDUCTOR])]
    accounts += [_agent_account(name, agent, passwords.get(name, "")) for name, agent in configuration.agents.items()]
    return f"""\
# Made by `zerolap fleet` from {CONFIGURATION}: it is made anew by every change.
server_name: zerolap
listen: {_quoted(configuration.listen)}
pid_file: {_quoted(directory / PROCESS_NUMBER)}
max_payload: {MAX_PAYLOAD_BYTES}
# A connection that is lost without an end is noticed after a minute.
ping_interval: "20s"
ping_max: 2
tls {{
  cert_file: {_quoted(directory / CERTIFICATE)}
  key_file: {_quoted(directory / CERTIFICATE_KEY)}
  # Nothing is sent in the clear, also not what the server is.
  handshake_first: true
}}
jetstream {{
  store_dir: {_quoted(directory / "bus")}
  max_memory_store: {MOST_MEMORY_BYTES}
  max_file_store: {MOST_FILES_BYTES}
  # The queues are in memory. A stream that is kept here has on the disk what was confirmed.
  sync_interval: always
}}
accounts {{
{"".join(accounts)}}}
"""


def _conductor_account(password: str) -> str:
    return f"""\
  {CONDUCTOR} {{
    jetstream: enabled
    users: [{{user: {CONDUCTOR}, password: {_quoted(password)}}}]
    exports: [
      {{service: "$JS.API.CONSUMER.MSG.NEXT.JOBS.*"}}
      {{service: "$JS.API.CONSUMER.MSG.NEXT.NOTICES.*"}}
      {{service: "$JS.ACK.JOBS.>"}}
      {{service: "agents.*.*.*"}}
      {{stream: "cancel.*"}}
    ]
  }}
"""


def _agent_account(name: str, agent: AgentEntry, password: str) -> str:
    consumers = [f"{agent.platform}-{priority}" for priority in PRIORITIES]
    services = [
        *(f"$JS.API.CONSUMER.MSG.NEXT.JOBS.{consumer}" for consumer in consumers),
        f"$JS.API.CONSUMER.MSG.NEXT.NOTICES.{agent.platform}",
        *(f"$JS.ACK.JOBS.{consumer}.>" for consumer in consumers),
        f"agents.{agent.lab}.{agent.platform}.{name}",
    ]
    cancel = f"cancel.{agent.platform}"
    imports = "\n".join(
        [
            *(f"      {{service: {{account: {CONDUCTOR}, subject: {_quoted(service)}}}}}" for service in services),
            f"      {{stream: {{account: {CONDUCTOR}, subject: {_quoted(cancel)}}}}}",
        ]
    )
    user = f"nkey: {agent.key}" if agent.key else f"user: {_quoted(name)}, password: {_quoted(password)}"
    return f"""\
  {_quoted(name)} {{
    limits: {{
      max_connections: {MOST_CONNECTIONS}, max_subscriptions: {MOST_SUBSCRIPTIONS}
      max_payload: {MAX_AGENT_PAYLOAD_BYTES}
    }}
    users: [{{
      {user}
      permissions: {{
        publish: {json.dumps(services)}
        subscribe: {json.dumps([f"_INBOX_{name}.>", cancel])}
      }}
    }}]
    imports: [
{imports}
    ]
  }}
"""


def _quoted(text: object) -> str:
    return json.dumps(str(text), ensure_ascii=False)
