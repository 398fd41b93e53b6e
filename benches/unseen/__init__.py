"""Measures what verdicts see of changes that no case alone shows."""
