"""How large the project is, how its parts hang together, and how long its checks take: `make bench-house`."""
