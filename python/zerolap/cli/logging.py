"""Logs of long-running verbs on standard error: lines for people on a terminal, JSON elsewhere, or lines of a verb."""

import logging
import sys
from typing import TYPE_CHECKING, Any

import structlog

from zerolap.foreign_text import printable

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor


def set_up_logs() -> None:
    """Write logs to standard error from now on, each line with its time and, where there is one, its request."""
    is_terminal = sys.stderr.isatty()
    renderer: Processor = structlog.dev.ConsoleRenderer() if is_terminal else structlog.processors.JSONRenderer()
    # JSON escapes by itself.
    guard: list[Processor] = [_show_foreign_text] if is_terminal else []
    common: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*common, *guard, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    # What libraries report, such as that an address is taken, has the same form.
    of_libraries = logging.StreamHandler(sys.stderr)
    of_libraries.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=common,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *guard, renderer],
        )
    )
    logging.getLogger().addHandler(of_libraries)


def set_up_lines(line_of: "Processor") -> None:
    """Write the lines that a processor makes of entries to standard error from now on."""
    structlog.configure(
        processors=[structlog.contextvars.merge_contextvars, structlog.processors.format_exc_info, line_of],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


def _show_foreign_text(_logger: Any, _method: str, event: "EventDict") -> "EventDict":
    """Replace what would steer the terminal in the values of an event, before they are coloured."""
    shown = {}
    for name, value in event.items():
        shown[name] = value if isinstance(value, (bool, int, float)) else printable(str(value))
    return shown
