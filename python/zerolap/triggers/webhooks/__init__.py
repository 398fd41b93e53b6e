"""Webhook deliveries of GitHub: whether they are admitted, and what they mean."""

from zerolap.triggers.webhooks.admission import Delivery, admit, log_outcome
from zerolap.triggers.webhooks.admission_state import HOUR_SECONDS, MINUTE_SECONDS, AdmissionState, stored_trigger
from zerolap.triggers.webhooks.outcomes import UNSIGNED, Admitted, Cause, Ignored, Outcome, Refused
from zerolap.triggers.webhooks.rates import Rate, network_of

__all__ = [
    "HOUR_SECONDS",
    "MINUTE_SECONDS",
    "UNSIGNED",
    "AdmissionState",
    "Admitted",
    "Cause",
    "Delivery",
    "Ignored",
    "Outcome",
    "Rate",
    "Refused",
    "admit",
    "log_outcome",
    "network_of",
    "stored_trigger",
]
