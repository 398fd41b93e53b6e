"""Jobs over NATS JetStream: the connections of the conductor and of agents to a bus on another machine.

`zerolap.fleet.setup` writes the server's configuration. The account of the conductor holds the queues; each agent has
an account of its own, which imports only what the agent needs.
"""

from zerolap.fleet.bus.dispatcher import JetStreamDispatcher as JetStreamDispatcher
from zerolap.fleet.bus.link import JetStreamLink as JetStreamLink
