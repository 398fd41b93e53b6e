"""A fleet: the conductor, the bus, and the agents that build and measure."""
