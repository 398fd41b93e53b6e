"""Webhooks, watching, comments and checks."""
