"""What was seen of the arguments that a function gets within a request."""

from zerolap.records.base import Record


class ArgumentCheck(Record):
    """How often the function of an opportunity gets the arguments of an earlier call of the same request.

    `detector`, `function` and `file` are those of the opportunity. `calls_per_op` are the calls within its command per
    request, `repeated_per_op` those with the arguments of an earlier call, over so many `requests`. `obstacle` is why
    they do not show whether arguments are equal; it is empty where they do. `method` is raised when the same server
    would get other figures.
    """

    detector: str
    function: str
    file: str
    method: int
    requests: int = 0
    calls_per_op: float = 0.0
    repeated_per_op: float = 0.0
    obstacle: str = ""
