"""Webhook deliveries of GitHub: whether they are admitted, and what they mean."""
