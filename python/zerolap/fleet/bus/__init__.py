"""Jobs over NATS JetStream: the connections of the conductor and of agents to a bus on another machine.

`zerolap.fleet.setup` writes the server's configuration, with an account for the conductor, which holds the
queues, and one for each agent, into which nothing is imported but what that agent needs.
"""

from zerolap.fleet.bus.dispatcher import JetStreamDispatcher as JetStreamDispatcher
from zerolap.fleet.bus.link import JetStreamLink as JetStreamLink
