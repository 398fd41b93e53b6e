"""Settings of the server in the public format."""

import shlex
from typing import Any

from zerolap.cases._values import shown
from zerolap.cases.public.field_values import Fields


def settings_of(database: Fields) -> dict[str, str]:
    """Return the settings that a server can be started with; others are left out with a warning."""
    parameters = database.fields("configuration-parameters")
    settings = {}
    for name in parameters.names():
        value = parameters.raw(name)
        if isinstance(value, bool | int | float):
            parameters.warn((name,), f"settings are text; found {shown(value)}", "put it in quotes")
            value = ("yes" if value else "no") if isinstance(value, bool) else str(value)
        fault = _fault_of_setting(value)
        if fault is None:
            settings[name] = value
        else:
            parameters.warn((name,), f"{fault}; the setting is left out")
    return settings


def _fault_of_setting(value: Any) -> str | None:
    """Return why a server cannot be started with a value."""
    if not isinstance(value, str):
        return f"settings are text; found {shown(value)}"
    try:
        shlex.split(value)
    except ValueError as wrong:
        return f"the value cannot be split: {wrong}"
    return "the value holds a zero byte" if "\0" in value else None
