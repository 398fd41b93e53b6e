"""How a fleet is set up: its directory, certificates and keys, the configuration of its bus, and how agents join."""
