"""Call graphs, stacks, binaries, comparisons, counters, the load generator's arguments and the filter of system calls.

It is in the crates below `crates/`. All functions let other threads run while they work.
"""

from typing import final

__all__ = [
    "BinaryFacts",
    "ChangePoint",
    "ChangeSearch",
    "Changes",
    "PairedChange",
    "ProcessCounters",
    "ZeroSideError",
    "adjust_p",
    "answer_of",
    "binary_facts",
    "call_graph",
    "code_lines",
    "compare_executed",
    "cusum",
    "describe_load",
    "equivalence",
    "executed",
    "executed_digest",
    "executed_functions",
    "export_profile",
    "fitting_counters",
    "fold_stacks",
    "function_code",
    "function_lines",
    "function_samples",
    "functions_by_case",
    "graph_levels",
    "look_up_role",
    "merge_call_graphs",
    "merge_stacks",
    "paired_change",
    "read_stacks",
    "read_waits",
    "slope",
    "source_functions",
    "source_lines",
    "stack_profile",
    "stack_tree",
    "structures",
    "system_call_filter",
    "with_line_texts",
]

class ZeroSideError(ValueError):
    """One side of a comparison is 0 in all samples, the other is not: there is a change, but no ratio."""

@final
class BinaryFacts:
    """What an ELF file records of how it was built."""

    @property
    def build_id(self) -> str:
        """GNU build id in hexadecimal; empty when there is none."""

    @property
    def compiler(self) -> str:
        """Name and version of the C compiler, such as `GNU C11 12.2.0`; empty when unknown."""

    @property
    def flags(self) -> str:
        """The compiler's flags as it recorded them; empty when unknown."""

    @property
    def stripped(self) -> bool:
        """Whether there is no symbol table: functions have no names."""

    @property
    def debug_lines(self) -> bool:
        """Whether there is line information: costs can be reported by source line."""

    @property
    def compile_directory(self) -> str:
        """The directory that most of the server's own units were compiled in; empty when unknown."""

    @property
    def exported_functions(self) -> int:
        """Functions in the dynamic symbol table that others can call."""

    @property
    def static_executable(self) -> bool:
        """Whether no dynamic loader is asked for: nothing can be preloaded."""

    @property
    def image(self) -> str:
        """The digest of all that is loaded, but for the build id; empty where nothing is known to be loaded."""

@final
class ChangePoint:
    """A change of level in a series. Levels are in the unit of its values."""

    @property
    def index(self) -> int:
        """The first point of the new level."""

    @property
    def first(self) -> int:
        """The first point that can be the first of the new level, with 95 %."""

    @property
    def last(self) -> int:
        """The last point that can be the first of the new level, with 95 %."""

    @property
    def before(self) -> float:
        """The level before."""

    @property
    def after(self) -> float:
        """The level after."""

    @property
    def low(self) -> float:
        """Lower end of the interval of 95 % of `after - before`, given where the change is."""

    @property
    def high(self) -> float:
        """Upper end of that interval."""

    @property
    def gain(self) -> float:
        """By how much the change lowers the sum of losses, over the long-run factor."""

    @property
    def p(self) -> float:
        """Probability that a series of this length without a change has a gain so large somewhere."""

    @property
    def ramp(self) -> bool:
        """Whether it is part of a ramp: of changes in one direction between which the series goes that way too."""

@final
class Changes:
    """What a series consists of."""

    @property
    def changes(self) -> list[ChangePoint]:
        """The changes of level, in order."""

    @property
    def spikes(self) -> list[int]:
        """Points more than three standard deviations from the level around them, in order."""

    @property
    def disturbed(self) -> list[tuple[int, int, float]]:
        """Stretches of which nearly all points are spikes: the first point, the one after the last, and p.

        p is the probability that a series of this length without a change shows one so clear somewhere.
        """

    @property
    def noise_sd(self) -> float:
        """Standard deviation of a point whose variance is 1; 0 where the series does not vary or is too short."""

    @property
    def long_run_factor(self) -> float:
        """By how much correlation raises the variance of a mean."""

@final
class ChangeSearch:
    """A series that grows, and the search for its changes, which depends on the points alone, not on when they came.

    A series that never changes has a change with the probability `level`, between 0.001 and 0.1. Where variances are
    known, noise is not taken as less than they say. Raises `ValueError` for a level beyond these.
    """

    def __new__(cls, level: float, known_variances: bool) -> ChangeSearch: ...
    def __len__(self) -> int:
        """Number of points."""

    def extend(self, values: list[float], variances: list[float] | None, penalties: list[float] | None) -> None:
        """Add points in order; without variances and penalties these are 1 and 0.

        A penalty is what a change just before the point costs more than elsewhere, in units of the gain; it is infinite
        where there can be none, minus infinite where one is known. Raises `ValueError` for a value that is not finite,
        a variance not above 0, a penalty that is no number, or lengths that differ; the points before stay.
        """

    def changes(self) -> Changes:
        """Return the changes of all points so far."""

@final
class PairedChange:
    """How a metric changed from base to head."""

    @property
    def change(self) -> float:
        """Relative change, (head - base) / base: the geometric mean over the pairs."""

    @property
    def low(self) -> float:
        """Lower end of the confidence interval of `change`."""

    @property
    def high(self) -> float:
        """Upper end of the confidence interval of `change`."""

    @property
    def p(self) -> float:
        """Two-sided p value of no change."""

    @property
    def sd(self) -> float:
        """Standard deviation of a pair's log ratio, as used: not below the floor."""

    @property
    def detectable(self) -> float:
        """The smallest relative change that would have been detected with 90 % power."""

    @property
    def pairs(self) -> int:
        """Number of pairs."""

def call_graph(small: str, large: str, requests_small: int, requests_large: int, source_root: str) -> bytes:
    """The call graph of one request, from two callgrind dumps of one process that cover different numbers of requests.

    Every value is (X(large) - X(small)) / (requests_large - requests_small). Lines are given for files under
    `source_root`, the directory that the server was built from.

    Returns JSON with `"schema": "zerolap.callgraph/1"`:

        {"schema": ..., "files": [name], "totals": {"instructions": per request, "syscalls": per request},
         "functions": [{"name", "file": index or null, "object", "instructions": of itself, "syscalls": of itself,
                        "calls": over all incoming edges, "lines": [[file index, line, instructions]]}],
         "edges": [{"caller": index, "callee": index, "calls", "instructions": inclusive, "syscalls": inclusive,
                    "lines": [[file index, line, calls]]}]}

    Raises `OSError` when a dump cannot be read, `ValueError` when it is no whole callgrind dump or the large one has no
    more requests than the small one.
    """

def timer_graph(
    requests: str, timers: str, requests_alone: int, requests_beside: int, ticks: int, source_root: str
) -> bytes:
    """The call graph of one tick of a server's timers, as `call_graph` returns it.

    Of two callgrind dumps of one process, `requests` covers `requests_alone` requests, and `timers` that many beside
    `ticks` ticks: `requests_beside` of them. What requests cost varies, so that values may be negative.

    Raises `OSError` when a dump cannot be read, `ValueError` when it is no whole callgrind dump, or there are no ticks
    or no requests.
    """

def merge_call_graphs(graphs: list[bytes]) -> bytes:
    """The mean of call graphs (of several seeds); what one of them does not have counts as 0 there.

    Raises `ValueError` when one is not what `call_graph` returns.
    """

def read_stacks(path: str, source_root: str, original: str | None = None) -> bytes:
    """The samples of a file of `perf record`, by thread and stack, from the programs and libraries that were mapped.

    `original` is a program with debug information: what ran without any, and has the same functions in another order,
    gets names, files and lines from there.

    Files have the form of the call graphs. A function without a name is `[unknown]`, or `[kernel]`.

    Returns JSON with `"schema": "zerolap.stacks/1"`:

        {"schema": ..., "event": name, "samples": number, "lost": number, "threads": [{"name"}],
         "frames": [{"function", "file": name or null, "object", "inlined": bool}],
         "stacks": [{"thread": index, "frames": [index, from the root to the leaf], "samples": number}],
         "lines": [{"function", "file", "object", "samples": of itself, "lines": [{"file", "line", "samples"}]}]}

    `lines` are those of the 60 functions with the most samples of their own, 2,000 in all, where debug information has
    them. Tables of versions that did not record them have no `lines`; a line may have a `text` of 200 characters.

    Raises `OSError` when the file cannot be read, `ValueError` when it is no whole file of `perf record`, or one of a
    kind that is not supported.
    """

def read_waits(path: str, source_root: str, windows: list[tuple[int, int]]) -> bytes:
    """The time off the processor of a recording of `sched:sched_switch` with context switches, by thread and stack.

    Returns JSON as `read_stacks` does, in which samples are nanoseconds and `event` is `off-cpu`. `windows` are from
    and to, in nanoseconds of the recording's clock: a wait counts if it begins and ends within one of them. `lost` has
    the waits whose end is missing too.

    Raises as `read_stacks` does.
    """

def executed(before: str, windows: list[list[str]], requests: list[int], object: str, program: str) -> bytes:
    """What a program executed in a trial, without addresses, for `compare_executed`.

    `before` is the callgrind dump of what was executed before the windows. `windows` are the dumps of three kinds of
    windows, in which so many `requests` were answered: in pipelines, alone, and between timers; all of them with
    addresses (`--dump-instr=yes`). `object` is the program as the dumps name it, `program` its file.

    Returns JSON with `"schema": "zerolap.executed/2"`. Raises `OSError` when a file cannot be read, `ValueError` when
    it is no whole callgrind dump or no ELF file.
    """

def compare_executed(base: bytes, head: bytes) -> str:
    """Whether two servers executed the same instructions but for addresses, on the same constants, equally often.

    Returns JSON, one of:

        {"outcome": "identical", "instructions": executed in the windows, "functions": that they belong to}
        {"outcome": "different", "differences": [{"name", "base": text or null, "head": text or null}]}
        {"outcome": "unknown", "reason": text}

    Both numbers are 0 where the programs are the same to the byte and their instructions cannot be listed. Raises
    `ValueError` when an argument is not what `executed` returns.
    """

def executed_beginning_with(executed: bytes, beginnings: list[str]) -> list[tuple[str, int, float]]:
    """How often a request executes instructions whose text, in Intel's notation, begins with one of `beginnings`.

    By function and index of the beginning, of requests in pipelines; those of no such instruction are left out.

    Raises `ValueError` when the bytes are not what `executed` returns.
    """

def executed_functions(executed: bytes) -> list[str]:
    """The functions of a program that have code of their own and of which an instruction was executed in a window.

    Raises `ValueError` when the bytes are not what `executed` returns.
    """

def executed_digest(executed: bytes) -> str | None:
    """The SHA-256 of what a program executed, in hexadecimal, without names and without how often.

    It is equal where `compare_executed` finds that all is identical, in every process. Where the instructions cannot be
    listed it is of the program's image; `None` where a library that was executed could not be read. Raises `ValueError`
    when the argument is not what `executed` returns.
    """

def merge_stacks(tables: list[bytes]) -> bytes:
    """The sum of stack tables of one event; threads of one name are one.

    Raises `ValueError` when one is not what `read_stacks` returns, or the events differ.
    """

def source_lines(table: bytes) -> list[tuple[str, int]]:
    """The lines of source code that have samples in a stack table, by file and number.

    Raises `ValueError` when the table is not what `read_stacks` returns.
    """

def with_line_texts(table: bytes, texts: dict[tuple[str, int], str]) -> bytes:
    """A stack table with the texts of its lines, by file and number, each cut at 200 characters.

    Raises `ValueError` when the table is not what `read_stacks` returns.
    """

def fold_stacks(table: bytes) -> str:
    """A line for each stack as flame graph programs read it: thread and functions with `;` between, space, samples.

    Raises `ValueError` when the table is not what `read_stacks` returns.
    """

def stack_tree(table: bytes) -> bytes:
    """A stack table as a call tree, its nodes in columns.

    Returns JSON:

        {"event": name, "samples": number, "lost": number, "threads": [name], "frames": as in the table,
         "nodes": {"thread": [index], "parent": [index of a node before it, or -1], "frame": [index],
                   "samples": [number, without the nodes below]}}

    Raises `ValueError` when the table is not what `read_stacks` returns.
    """

def stack_profile(parts: list[tuple[int, int, float, list[bytes]]], least_share: float) -> bytes:
    """One profile of many stack tables. A part is side, case, weight, and the case's tables on this side.

    Samples are weighted so that parts count by their weights, and that those of a side sum up to their number. A node
    with less than `least_share` of every side, callees included, joins a node `[other]` below its caller. Returns JSON:

        {"events": [name], "threads": [name], "frames": as in a table, "frame_cases": [number of cases of each frame],
         "nodes": {"thread": [index], "parent": [index of a node before it, or -1], "frame": [index]},
         "sides": [{"samples": number, "lost": number, "own": [samples of a node, without the nodes below],
                    "variance": [of each of these], "pruned_share": share}],
         "pruned_nodes": number, "part_samples": [samples of each part]}

    Raises `ValueError` when a table is not what `read_stacks` returns.
    """

def functions_by_case(parts: list[tuple[int, int, float, list[bytes]]], most: int) -> bytes:
    """The functions that cost most over all parts, which are those of `stack_profile`, and their shares in each.

    Returns JSON, shares by part, null where the function has no samples:

        {"functions": [{"function": name, "file": name or null, "object": name, "own": [share], "inclusive": [share]}],
         "all": number of functions, "samples": [samples of each part]}

    Raises `ValueError` when a table is not what `read_stacks` returns.
    """

def function_lines(
    parts: list[tuple[int, int, float, list[bytes]]], function: str, file: str | None, object: str
) -> bytes:
    """The lines of a function in parts, which are those of `stack_profile`; both sides' lines of one text are one.

    `object` tells functions apart whose file is not known. Samples are weighted as in a profile of the tables that have
    lines. Returns JSON:

        {"sides": [{"samples": of all functions, "own": of this one, "tables", "tables_with_lines",
                    "lacks_cases": whether a case has no table with lines}],
         "lines": [{"file", "text": or null, "line": [number or null, by side], "own": [samples, by side]}],
         "left_out": lines}

    Raises `ValueError` when a table is not what `read_stacks` returns.
    """

def export_profile(profile: bytes, format: str, title: str, sides: list[tuple[int, str, float | None]]) -> bytes:
    """A profile, as `stack_profile` returns it, in another format.

    Formats are `speedscope`, `firefox`, `pprof`, `folded`, `callgrind` and `svg`; all but the first two take one side.
    A side is its index, its name, and the CPU nanoseconds of a request where they are known: costs are nanoseconds
    then, of a request in speedscope and SVG and of a million requests elsewhere, and samples otherwise.

    Raises `ValueError` for another format, another number of sides and an inconsistent profile.
    """

def function_samples(table: bytes) -> list[tuple[str, str, str | None, int, int]]:
    """Thread, function, file, samples in the function itself, samples in it or what it calls.

    Of what has no name, such as `[unknown]`, the file is the object. A stack that has a function twice counts once for
    it. In the order of thread, function and file.

    Raises `ValueError` when the table is not what `read_stacks` returns.
    """

def binary_facts(path: str) -> BinaryFacts:
    """What an ELF file records of how it was built.

    Raises `OSError` when it cannot be read, `ValueError` when it is no ELF file or a broken one.
    """

def source_functions(path: str, source_root: str) -> list[tuple[str, str, int, int]]:
    """File, name, first and last line of every C function that a binary has code of, also where only inlined.

    Files and names have the form of the call graphs; only files under `source_root` are listed, in the order of file
    and line. Empty without debug information.

    Raises `OSError` when the binary cannot be read, `ValueError` when it is no ELF file or a broken one.
    """

def function_code(path: str, source_root: str) -> list[tuple[tuple[str, str], str, list[str], list[tuple[str, str]]]]:
    """Name with file, digest, what it refers to, and what is inlined into it, of each function of a binary.

    Functions of equal digests that refer to the same do the same, but for what is done by functions that they call. The
    digest is of instructions and of the constants that they read, without addresses, names, and the numbers of lines
    that asserts hold. A file is empty where the debug information has none.

    Raises `OSError` when the binary cannot be read, `ValueError` when it is no ELF file, a broken one, or of a kind
    whose instructions cannot be compared.
    """

def code_lines(path: str, source_root: str, files: list[str]) -> list[tuple[str, list[int]]]:
    """The lines that the compiler made code of, in those of the files that a binary has code of.

    Files have the form of the call graphs. Raises as `source_functions` does.
    """

def paired_change(base: list[float], head: list[float], sd_floor: float, confidence: float) -> PairedChange:
    """The change from base to head, whose samples of the same index are pairs, at least 2: Student's t on log ratios.

    `sd_floor` is the instrument's resolution as a standard deviation of log ratios; `confidence` that of the interval,
    such as 0.99. All samples 0 on both sides is no change.

    Raises `ZeroSideError` when exactly one side is 0 throughout, `ValueError` for samples without a ratio.
    """

def moderated_change(
    log_ratios: list[float], prior: tuple[float, float] | None, sd_floor: float, confidence: float
) -> PairedChange:
    """The change estimated from log ratios of starts, moderated by a prior of their variance and degrees of freedom.

    Raises `ValueError` when nothing is known of the spread, or a number is not finite.
    """

def graph_levels(
    nodes: int, contrasts: list[tuple[int, int, float, float]], reference: int, steps: list[tuple[int, int]]
) -> tuple[list[tuple[float, float] | None], list[tuple[float, float] | None]]:
    """Levels of nodes relative to a reference, and the steps between pairs of them, each with its variance.

    A contrast is base, head, the difference and its variance. What no contrast joins with the reference is none. Raises
    `ValueError` for a reference that is no node.
    """

def fit_prior(variances: list[tuple[float, float]]) -> tuple[float, float] | None:
    """Variance and degrees of freedom that comparisons alike are worth to each other (Smyth 2004), from theirs.

    None where fewer than two have a variance above 0.
    """

def sample_variance(values: list[float]) -> tuple[float, float] | None:
    """Sample variance and degrees of freedom; none of fewer than two values."""

def variances_agree(first: list[tuple[float, float]], second: list[tuple[float, float]]) -> bool:
    """Whether variances, each with its degrees of freedom, of two origins can be of one kind, at a level of 1 %."""

def trimmed_mean(values: list[float]) -> float | None:
    """The mean without the smallest and the largest three tenths; none of none."""

def adjust_p(values: list[float]) -> list[float]:
    """P values adjusted for their number (Benjamini and Hochberg 1995), in the order of the input.

    Raises `ValueError` when one is not between 0 and 1.
    """

def fitting_counters() -> tuple[list[list[str]], list[tuple[str, str]]]:
    """The events of the processor that this machine counts at the same time, in groups; the others with the reason.

    Events have the names of `perf list` with `:u` for the program or `:k` for the kernel. Takes some milliseconds for
    each; without counters there are no groups.
    """

@final
class ProcessCounters:
    """Counters on all threads of processes, and on the threads and processes that these start later.

    The first group keeps its counters whatever the others do. Raises `OSError` when a process is gone or the system
    refuses an event, `ValueError` for an unknown one.
    """

    def __new__(cls, processes: list[int], groups: list[list[str]]) -> ProcessCounters:
        """Open all events."""

    def begin(self) -> None:
        """Count from here on; a system call for each group and thread."""

    def end(self) -> tuple[list[tuple[str, int]], list[str]]:
        """Each event's number since the beginning, and why groups of events are left out, which shared counters."""

def answer_of(words: list[bytes], reply: bytes) -> str:
    """Return what the bytes of a reply to a request show of what was looked for, as the load generator counts it.

    `no_look_up`, `found`, `nothing`; `no_member` if the key or its member is not there, `empty_value` if the key is
    not there or holds such a value, `unclear` for a script that replies nil. Raises `ValueError` for bytes that are no
    reply.
    """

def describe_load(arguments: list[str]) -> str | None:
    """Return as JSON what a command line of the load generator means; none where it asks for a text, such as `--help`.

    `given` lists the arguments under their long names with their values, `settings` what they come to, `warnings` what
    the command line should not have asked for. Raises `ValueError` for what the load generator would refuse.
    """

def look_up_role(line: str) -> str | None:
    """Return what a command does with what it looks up: `reads`, `takes`, `moves`, `runs` scripts; None of others."""

def structures(path: str, source_root: str) -> list[tuple[str, str, int, str]]:
    """C structures with a name that are defined in files under `source_root`, in the order of file and name.

    Returns file, name, size in bytes, and the members in the order of the source as `name@byte`, separated by spaces.
    Raises `OSError` when the file cannot be read, `ValueError` when it is no ELF file.
    """

def system_call_filter(*, opens_connections: bool = True) -> bytes:
    """The program for the kernel that refuses system calls which code under test has no use for.

    Unless it `opens_connections`, those that open any are refused too. It has the form that
    `bwrap --seccomp` reads. Raises `ValueError` for an architecture that is not supported.
    """

def cusum(residuals: list[float], slack: float, limit: float) -> tuple[int, int, bool] | None:
    """When the cumulative sum of standardised residuals, each less `slack`, passes `limit`; none if it does not.

    Returns the point of the alarm, the first point of the departure, and whether it is upwards. Raises `ValueError`
    for a residual that is not finite, or a slack or limit not above 0.
    """

def slope(positions: list[float], values: list[float], long_run_factor: float) -> tuple[float, float, float]:
    """The median of the slopes between all points, with the ends of its interval of 95 % (Theil and Sen).

    Raises `ValueError` when lengths differ, a number is not finite or fewer than three points are at different
    positions.
    """

def equivalence(change: float, error: float, degrees: float, margin: float) -> tuple[float, float]:
    """The p values of two one-sided t tests: that a change is not above `-margin`, and that it is not below `margin`.

    Raises `ValueError` when error, degrees or margin are not above 0.
    """
