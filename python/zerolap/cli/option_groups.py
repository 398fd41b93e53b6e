"""Options that belong together are the fields of a dataclass: a verb that has them takes one parameter of that class.

A field is declared by `option` or `flag`, and the `PANEL` of the class is the part of the help that its options are in.
A verb that has only some of them says so: `Annotated[Group, Only("json", "quiet")]`; the others have their defaults.
"""

import copy
import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

PARAMETER = "parameter"


def option(
    text: str, metavar: str, *, name: str | None = None, default: Any = None, complete: Any = None, **limits: Any
) -> Any:
    """Return a field of a group that is an option with a value; its name is that of the field, unless others are given.

    By the default `dataclasses.MISSING` it has to be given.
    """
    names = [] if name is None else name.split()
    information = typer.Option(*names, help=text, metavar=metavar, autocompletion=complete, **limits)
    return dataclasses.field(default=default, metadata={PARAMETER: information})


def flag(text: str) -> Any:
    """Return a field of a group that is true where its option is given."""
    return dataclasses.field(default=False, metadata={PARAMETER: typer.Option(help=text)})


class Only:
    """The fields of a group that a verb has."""

    def __init__(self, *names: str) -> None:
        self.names = names


class Without:
    """The fields of a group that a verb does not have."""

    def __init__(self, *names: str) -> None:
        self.names = names


def with_options_of_groups(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function with the fields of groups as parameters, which calls `function` with the groups."""
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        group, choices = _split(parameter.annotation)
        if not (isinstance(group, type) and dataclasses.is_dataclass(group)):
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        options = list(_options_of(group, choices))
        groups[parameter.name] = group, [option.name for option in options]
        parameters += options

    @functools.wraps(function)
    def called(**values: Any) -> None:
        made = {name: group(**{each: values.pop(each) for each in names}) for name, (group, names) in groups.items()}
        function(**values, **made)

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del called.__wrapped__
    return called


def _split(annotation: Any) -> tuple[Any, list[Only | Without]]:
    if get_origin(annotation) is not Annotated:
        return annotation, []
    group, *marks = get_args(annotation)
    return group, [mark for mark in marks if isinstance(mark, Only | Without)]


def _options_of(group: Any, choices: list[Only | Without]) -> Iterator[inspect.Parameter]:
    """Yield the fields that are chosen as parameters, each in the panel of the group unless it names one."""
    hints = get_type_hints(group, include_extras=True)
    names = [field.name for field in dataclasses.fields(group)]
    for choice in choices:
        assert set(choice.names) <= set(names), f"{group.__name__} has no {', '.join({*choice.names} - {*names})}"
        names = [name for name in names if (name in choice.names) == isinstance(choice, Only)]
    for field in dataclasses.fields(group):
        if field.name in names:
            annotation = hints[field.name]
            if PARAMETER in field.metadata:
                information = copy.copy(field.metadata[PARAMETER])
                information.rich_help_panel = getattr(group, "PANEL", None)
                if annotation is bool:
                    information.param_decls = (f"--{field.name.replace('_', '-')}",)
                annotation = Annotated[annotation, information]
            kind = inspect.Parameter.KEYWORD_ONLY
            default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
            yield inspect.Parameter(field.name, kind, default=default, annotation=annotation)
