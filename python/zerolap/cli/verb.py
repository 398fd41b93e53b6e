"""A verb with its commands: options of groups, and help that is plain text of the terminal's width."""

import inspect
import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from zerolap import writer
from zerolap.cli.option_groups import with_options_of_groups
from zerolap.errors import UsageError

NARROWEST, WIDEST = 40, 120
NAMES_WIDTH = 28
"""Columns for the names of options; the help of a longer name begins on the next line."""
ARGUMENTS, COMMANDS, OPTIONS = "Arguments", "Commands", "Options"
PANELS = ("What", "How", "On a lab", "Reports")
"""The parts of the help of a verb, in this order; what is in none of them is under Options, at the end."""


class PlainHelp(TyperCommand):
    """A command whose help begins with what the command does and how the command is called."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage: arguments that are not needed in brackets, dots after those that repeat."""
        return usage_words(self.get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write what the command does, its usage, examples, arguments, and options by panel."""
        formatter.write("\n\n".join([*_head(self, ctx), *_parameters(self, ctx), *_end(self)]) + "\n")


class PlainHelpOfGroup(TyperGroup):
    """Commands below a verb, which the help lists."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage."""
        return [*usage_words(self.get_params(ctx)), "COMMAND", "..."]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Show the help where no command is named."""
        if not args and not ctx.resilient_parsing:
            writer.note(ctx.get_help())
            raise typer.Exit(UsageError.exit_code)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write what the verb does, its usage, and its commands."""
        parts = [*_head(self, ctx), *commands(self, ctx), *_parameters(self, ctx), *_end(self)]
        formatter.write("\n\n".join(parts) + "\n")


class Verb(typer.Typer):
    """A verb of the command line; `own` declares its command, or one of several."""

    def __init__(self, *, cls: type[TyperGroup] = PlainHelpOfGroup, **settings: Any) -> None:
        super().__init__(add_completion=False, rich_markup_mode=None, cls=cls, **settings)

    def own(
        self, name: str | None = None, *, cls: type[TyperCommand] = PlainHelp, **settings: Any
    ) -> Callable[[Callable[..., None]], Callable[..., None]]:
        """Return what declares a function as the command of that name."""
        declare = self.command(name, cls=cls, **settings)
        return lambda function: declare(with_options_of_groups(function))


def usage_words(parameters: Iterable[Any]) -> list[str]:
    """Return the words after a command in its usage."""
    words = ["[OPTIONS]"]
    for parameter in parameters:
        if isinstance(parameter, TyperArgument):
            name = parameter.display_name_raw if parameter.required else f"[{parameter.display_name_raw}]"
            words.append(name if parameter.nargs == 1 else f"{name}...")
    return words


def _head(command: Any, context: Any) -> Iterator[str]:
    """Yield what a command does, its usage, and the rest of its help with the examples."""
    first, *rest = inspect.cleandoc(command.help or "").split("\n\n")
    yield _filled(first)
    yield _filled(command.get_usage(context), hanging=7)
    yield from _paragraphs("\n\n".join(rest))


def _parameters(command: Any, context: Any) -> Iterator[str]:
    """Yield the arguments that have a help, and the options by panel."""
    shown = [parameter for parameter in command.get_params(context) if not parameter.hidden]
    arguments = [(each.display_name_raw, each.help) for each in shown if isinstance(each, TyperArgument) and each.help]
    if arguments:
        yield _table(ARGUMENTS, arguments)
    by_panel: dict[str, list[tuple[str, str]]] = {}
    for option in shown:
        if isinstance(option, TyperOption):
            by_panel.setdefault(option.rich_help_panel or OPTIONS, []).append((_names(option), _help(option, context)))
    last = [panel for panel in by_panel if panel not in PANELS and panel != OPTIONS]
    yield from (_table(panel, by_panel[panel]) for panel in (*PANELS, *last, OPTIONS) if panel in by_panel)


def _end(command: Any) -> Iterator[str]:
    if command.epilog:
        yield _filled(command.epilog)


def commands(group: Any, context: Any) -> Iterator[str]:
    """Yield the commands below one by panel, each with its first sentence."""
    by_panel: dict[str, list[tuple[str, str]]] = {}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            first = inspect.cleandoc(command.help or "").split("\n\n")[0]
            by_panel.setdefault(command.rich_help_panel or COMMANDS, []).append((name, first))
    longest = max(len(name) for rows in by_panel.values() for name, _ in rows)
    yield from (_table(panel, rows, longest + 4) for panel, rows in by_panel.items())


def _table(heading: str, rows: Iterable[tuple[str, str]], width: int = NAMES_WIDTH) -> str:
    """Return a heading with two columns below it, the second one filled."""
    lines = [heading]
    for name, text in rows:
        begin = f"  {name}".ljust(width)
        if len(f"  {name} ") > width:
            lines.append(f"  {name}")
            begin = " " * width
        lines.append(_filled(text, begin=begin, hanging=width))
    return "\n".join(lines)


def _names(option: TyperOption) -> str:
    names = " ".join(sorted(option.opts, key=len)) + "".join(f"/{name}" for name in option.secondary_opts)
    choices = option.type_descriptor.choices
    values = option.metavar or ("|".join(str(getattr(choice, "value", choice)) for choice in choices or ()) or "VALUE")
    return names if option.is_flag else f"{names} {values}"


def _help(option: TyperOption, context: Any) -> str:
    default = option.get_default(context, call=False)
    is_said = not option.show_default or option.is_flag or default in (None, "", [])
    words = "" if is_said else f" [default: {getattr(default, 'value', default)}]"
    variable = f" [environment: {option.envvar}]" if isinstance(option.envvar, str) else ""
    return f"{option.help or ''}{words}{variable}"


def _paragraphs(text: str) -> Iterator[str]:
    """Yield paragraphs filled, and lines of examples as they are written, without empty lines between them."""
    examples: list[str] = []
    for paragraph in text.split("\n\n"):
        head, *lines = paragraph.splitlines() or [""]
        if head.startswith(" "):
            examples += [head, *lines]
            continue
        if examples:
            yield "\n".join(examples)
            examples = []
        if lines and all(line.startswith("    ") for line in lines):
            examples = [head, *lines]
        elif head.endswith(":"):
            examples = [_filled(paragraph)]
        elif head:
            yield _filled(paragraph)
    if examples:
        yield "\n".join(examples)


def _filled(text: str, begin: str = "", hanging: int = 0) -> str:
    width = max(NARROWEST, min(shutil.get_terminal_size().columns, WIDEST))
    wrapped = textwrap.wrap(
        " ".join(text.split()),
        width,
        initial_indent=begin,
        subsequent_indent=" " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(wrapped) or begin.rstrip()
