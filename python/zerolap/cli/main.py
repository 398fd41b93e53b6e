"""The entry point of the command line: finds the verb, prints errors once, and maps them to exit codes."""

import difflib
import errno
import gc
import importlib
import os
import signal
import sys
import time
import traceback
from types import FrameType
from typing import Any

import typer
from typer.core import TyperCommand

from zerolap import __version__, writer
from zerolap.cli.settings_file import FILE, with_file_named
from zerolap.cli.verb import PlainHelpOfGroup
from zerolap.cli.verbs import PANELS, VERBS, panel_of
from zerolap.errors import EnvironmentMissing, Interrupted, UsageError, ZerolapError

OBJECTS_BETWEEN_COLLECTIONS = 100_000
"""Few records refer to each other in cycles: to look for cycles as often as by default takes longer than many verbs."""
MOST_QUOTED = 100
SECONDS_OF_ONE_WISH = 1.0


class LazyVerbs(PlainHelpOfGroup):
    """Imports a verb's module only when the verb is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the verbs in the order of the help."""
        return [verb for verbs in PANELS.values() for verb in verbs]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a verb for the list of verbs, without importing its module; None for an unknown one."""
        if cmd_name not in VERBS:
            return None
        return TyperCommand(cmd_name, help=VERBS[cmd_name], rich_help_panel=panel_of(cmd_name))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of the called verb from its module; raises `UsageError` for an unknown one."""
        if args[0] not in VERBS and not args[0].startswith("-") and not ctx.resilient_parsing:
            near = difflib.get_close_matches(args[0], VERBS, n=1)
            hint = f"did you mean `{near[0]}`?" if near else f"the verbs are {', '.join(VERBS)}"
            raise UsageError(f"there is no verb `{args[0]}`", hint=hint)
        name, command, rest = super().resolve_command(ctx, args)
        if name in VERBS:
            command = typer.main.get_command(importlib.import_module(f"zerolap.cli.{name}").app)
            command.name = name
        return name, command, rest


def _show_version(is_requested: bool) -> None:
    if is_requested:
        writer.show(f"zerolap {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=LazyVerbs,
    name="zerolap",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog="Start with: zerolap run. Then: zerolap compare HEAD~1 HEAD. Defaults of options: zerolap.toml.",
)


@app.callback()
def root(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    """A performance lab for servers that speak the Redis protocol: two revisions in, a verdict and its reason out."""
    from zerolap.cli.settings_file import default_map

    context.default_map = default_map()


class _Stop:
    """Records that the user interrupted the work, which then determines the exit code.

    A signal right after another is that same wish. A second exception would end the first one's cleaning up before it
    has begun, and the threads of trials would then be waited for, which nobody has cancelled.
    """

    def __init__(self) -> None:
        self._asked_at: float | None = None

    @property
    def asked(self) -> bool:
        return self._asked_at is not None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        is_repeated = self._asked_at is not None and now - self._asked_at < SECONDS_OF_ONE_WISH
        if not is_repeated:
            self._asked_at = now
            raise KeyboardInterrupt


def main() -> None:
    """Run the command line and exit with its code."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    writer.guard_streams()
    stop = _Stop()
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    # A closed terminal; under nohup, SIGHUP is ignored and stays so.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, stop)
    code = _run()
    # The process ends: what refers to each other in cycles need not be found first.
    gc.freeze()
    sys.exit(Interrupted.exit_code if stop.asked else code)


def _run() -> int:
    try:
        code = app(standalone_mode=False)
        return code if isinstance(code, int) else 0
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except typer.Abort:
        return Interrupted.exit_code
    except BrokenPipeError:
        # The reader of the output closed it; what is left to flush at exit is discarded.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ZerolapError, typer.TyperException, UnicodeEncodeError, OSError) as fault:
        return _show(_to_show(fault))
    except Exception as fault:  # noqa: BLE001 - the edge: exit code 1 would be taken for a regression
        writer.note(traceback.format_exc())
        return _show(ZerolapError(f"internal error: {fault}", hint="please report it with the lines above"))


def _to_show(fault: Exception) -> ZerolapError:
    if isinstance(fault, ZerolapError):
        return with_file_named(fault)
    if isinstance(fault, UnicodeEncodeError):
        # Arguments and names of files may be any bytes; what is stored and written is not.
        return UsageError(f"not UTF-8 text: {fault.object[:MOST_QUOTED]!r}", hint="give names and ids in UTF-8")
    return _of_system(fault) if isinstance(fault, OSError) else _of_usage(fault)


def _of_system(fault: OSError) -> ZerolapError:
    if isinstance(fault, PermissionError):
        return UsageError(f"`{fault.filename}`: {fault.strerror}", hint="give a path that this user can access")
    if fault.errno == errno.ENOSPC:
        return EnvironmentMissing(f"no space left on the disk of `{fault.filename}`", hint="free some space")
    return ZerolapError(f"`{fault.filename}`: {fault.strerror}")


def _of_usage(fault: Any) -> ZerolapError:
    """Return the error to show for words that typer does not accept, with the usage of the command."""
    if isinstance(fault, typer.BadParameter):
        fault.message = fault.message.removeprefix("Value error, ")
    message = fault.format_message().rstrip(".")
    context, parameter = getattr(fault, "ctx", None), getattr(fault, "param", None)
    if context is None:
        return UsageError(message)
    source = None if parameter is None else context.get_parameter_source(parameter.name)
    if source is not None and source.name == "DEFAULT_MAP":
        message += f"; it is set in `{FILE}`"
    return UsageError(message, hint=f"{context.command_path} --help", details=context.get_usage())


def _show(fault: ZerolapError) -> int:
    if fault.details:
        writer.note(fault.details)
    writer.note(f"error: {fault.message}")
    if fault.hint:
        writer.note(f"hint: {fault.hint}")
    return fault.exit_code
