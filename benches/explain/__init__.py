"""How well changes and opportunities are explained; writes `.bench/explain.json`."""
