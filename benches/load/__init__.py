"""How cheap and how true the load generator is, beside others: `make bench-load`."""
