"""The command of a report in a form that can be repeated, without passwords."""

import re
import shlex
import sys

import typer

REPORTS = frozenset({"json", "html", "markdown", "benchfmt", "junit", "sarif", "quiet", "store"})


SETTING_WITH_PASSWORD = re.compile(
    r"(?P<option>--[\w-]+=)?(?P<name>requirepass|masterauth|user)=(?P<value>.*)", re.IGNORECASE | re.DOTALL
)


def without_password(word: str) -> str:
    """Return a word of the command line, which is shown in reports, without the password of a database or server."""
    from zerolap.records import with_lab_passwords

    word = re.sub(r"(postgres(?:ql)?://[^:/@?]*):[^@]*@", r"\1@", word)
    setting = SETTING_WITH_PASSWORD.fullmatch(word)
    if setting is None:
        return word
    [value] = with_lab_passwords({setting["name"]: setting["value"]}).values()
    return f"{setting['option'] or ''}{setting['name']}={value}"


def is_on_command_line(context: typer.Context, name: str) -> bool:
    """Whether a parameter is written there, and not a default or of `zerolap.toml`."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def command_line(context: typer.Context) -> str:
    """Return the command in a form that can be repeated: with the options that `zerolap.toml` added."""
    words = ["zerolap", *(without_password(word) for word in sys.argv[1:])]
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is None or source.name != "DEFAULT_MAP" or name in REPORTS:
            continue
        value = context.params[name]
        option = parameter.opts[0]
        for item in value if isinstance(value, list | tuple) else [value]:
            shown = [option, without_password(str(item))]
            words += [option] if item is True else shown if item is not False else []
    return shlex.join(word.encode(errors="surrogateescape").decode(errors="backslashreplace") for word in words)
