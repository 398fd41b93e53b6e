"""Logs of long-running verbs: lines for people on a terminal, JSON elsewhere; on standard error."""

import sys

import structlog


def set_up_logs() -> None:
    """Write logs to standard error from now on, each line with its time and, where there is one, its request."""
    on_terminal = sys.stderr.isatty()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.dev.ConsoleRenderer() if on_terminal else structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
