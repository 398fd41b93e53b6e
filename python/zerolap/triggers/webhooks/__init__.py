"""Webhook deliveries of GitHub: whether they are admitted, and what they mean."""

from zerolap.triggers.webhooks.admission import Delivery as Delivery, admit as admit, log_outcome as log_outcome
from zerolap.triggers.webhooks.admission_state import (
    HOUR_SECONDS as HOUR_SECONDS,
    MINUTE_SECONDS as MINUTE_SECONDS,
    AdmissionState as AdmissionState,
    stored_trigger as stored_trigger,
)
from zerolap.triggers.webhooks.outcomes import (
    UNSIGNED as UNSIGNED,
    Admitted as Admitted,
    Cause as Cause,
    Ignored as Ignored,
    Outcome as Outcome,
    Refused as Refused,
)
from zerolap.triggers.webhooks.rates import Rate as Rate, network_of as network_of
