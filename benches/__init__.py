"""Measurements of Zerolap itself; each writes `.bench/NAME.json`."""
