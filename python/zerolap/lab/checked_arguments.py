"""Looks at arguments that opportunities suppose to be equal: servers run once more, under probes, nothing is timed."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from zerolap.build import (
    LARGEST_PROGRAM_BYTES,
    LONGEST_DEFINITION_LINES,
    BuiltServer,
    Parameter,
    functions_of_build,
    parameters_of,
    source_functions,
)
from zerolap.engines import (
    ARGUMENT_METHOD,
    MOST_PROBED,
    FunctionSymbol,
    PinnedTrial,
    ProbedCalls,
    ProbedEntry,
    ambiguous,
    count_repeated,
    function_symbols,
    sees_all,
)
from zerolap.explain import Supposition, command_of, opportunity_location, suppositions
from zerolap.host import probing_obstacle
from zerolap.lab.lab import Lab
from zerolap.opportunities import CountedVersion, ranked_version, searched_version
from zerolap.records import (
    ArgumentCheck,
    CaseOpportunity,
    CaseWeights,
    CountedWork,
    EnvironmentMissing,
    Opportunities,
    TrialFailed,
    TrialsJob,
)
from zerolap.sandbox import FileRefused, read_file
from zerolap.store import CountedGraph

NO_SYMBOL = "the program has no symbol of its name, as of a function that is inlined everywhere"
SEVERAL = "several functions of the program have its name"
TOO_MANY = f"the program has more than {MOST_PROBED} copies of it"
NO_PARAMETERS = "it has no parameters"
UNKNOWN_PARAMETERS = "its parameters are not known, and not all registers were equal"
UNSEEN_PARAMETERS = "not all of its arguments are in registers that are read"
NO_COUNT_BUILD = "its calls were counted in a build without inlining, which is not on this machine"
NO_COMMAND = "the function of its command is not known"
NO_REQUEST, NO_CALL = "its command was not called", "it was not called within its command"
START_COMMAND = "the server was given with arguments, and runs where its files are"


def checked_opportunities(
    version: CountedVersion,
    weights: CaseWeights,
    lab: Lab,
    command_line: str,
    most: int,
    listen: Callable[[str, int, int], None] = lambda activity, done, expected: None,
) -> Opportunities:
    """Return the opportunities of a version, once the arguments of the first `most` of them are looked at.

    Of each that supposes equal arguments, the case is looked at in which it saves most; what was kept before is not
    looked at again. `listen` is told what is done, how much of it is done, and of how much. Raises as
    `version_opportunities` does, and `EnvironmentMissing` if arguments cannot be looked at here.
    """
    of_groups = searched_version(version, lab.store, functions_of_build, listen)
    document = ranked_version(version, weights, of_groups, command_line)
    search = of_groups.search
    works = of_groups.works_of_cases(version.graphs)
    wanted = _wanted(document, works, most)
    if not wanted:
        return document
    _require_probes(version, lab.builds.find(version.server.build))
    graphs = {graph.case: graph for graph in version.graphs}
    jobs = lab.store.work.jobs([graphs[case].job for case in wanted])
    checker = _Checker(lab, version.server.build)
    for done, (case, opportunities) in enumerate(wanted.items()):
        listen("looking at arguments", done, len(wanted))
        try:
            with lab.cancellation.current():
                checks = checker.checks(jobs[graphs[case].job], graphs[case], works[case], opportunities)
        except TrialFailed as fault:
            search.limits.append(f"Arguments of calls in {case} could not be looked at: {fault.message}")
            continue
        search.keep_checks(graphs[case].graph, checks)
    return ranked_version(version, weights, of_groups, command_line)


def _require_probes(version: CountedVersion, build: BuiltServer | None) -> None:
    obstacle = probing_obstacle()
    if obstacle is not None:
        raise EnvironmentMissing(f"arguments cannot be looked at: {obstacle.reason}", hint=obstacle.remedy)
    if build is None:
        raise EnvironmentMissing(
            f"arguments cannot be looked at: the build {version.server.build} is not on this machine",
            hint="count the cases here: zerolap run --engine counted",
        )


def _wanted(document: Opportunities, works: Mapping[str, CountedWork], most: int) -> dict[str, list[CaseOpportunity]]:
    """Return the opportunities to look at, by the case in which each saves most."""
    wanted: dict[str, list[CaseOpportunity]] = {}
    for ranked in document.opportunities[:most]:
        case = ranked.cases[0].case
        place = ranked.detector, ranked.function, ranked.file
        known = {
            opportunity_location(check) for check in works[case].argument_checks if check.method == ARGUMENT_METHOD
        }
        if place in known or place not in suppositions(works[case].opportunities):
            continue
        # Several commands of the case may have an opportunity there, of whose calls the same is seen.
        of_place = next(
            opportunity for opportunity in works[case].opportunities if opportunity_location(opportunity) == place
        )
        wanted.setdefault(case, []).append(of_place)
    return wanted


@dataclass(frozen=True)
class _ProbedProgram:
    """A build whose functions can be looked at, and those of its source."""

    built: BuiltServer
    content: bytes
    symbols: Mapping[str, Sequence[FunctionSymbol]]
    is_count_build: bool
    first_lines: Mapping[tuple[str, str], int]

    def entries(
        self, opportunity: CaseOpportunity, supposed: Supposition, parameters: Sequence[Parameter] | None
    ) -> Sequence[ProbedEntry] | str:
        """Return where calls enter the functions of an opportunity, or why they cannot be looked at."""
        if supposed.of_count_build and not self.is_count_build:
            return NO_COUNT_BUILD
        if supposed.of_keys:
            hashes = [self.symbols[name] for name in self.symbols if supposed.functions.fullmatch(name)]
            entries = [
                ProbedEntry(symbol, (Parameter.TEXT,), by_content=True) for symbols in hashes for symbol in symbols
            ]
            return entries or NO_SYMBOL
        symbols = self.symbols.get(opportunity.function, ())
        if not symbols:
            return NO_SYMBOL
        if ambiguous(symbols):
            return SEVERAL
        if parameters is not None and not parameters:
            return NO_PARAMETERS
        if supposed.of_client:
            parameters = (Parameter.HANDLE,)
        return [ProbedEntry(symbol, parameters if symbol.is_as_written else None) for symbol in symbols]

    def commands(self, opportunities: Collection[CaseOpportunity]) -> list[FunctionSymbol]:
        """Return the functions of the commands that opportunities lie in."""
        names = dict.fromkeys(name for name in map(command_of, opportunities) if name is not None)
        return [symbol for name in names for symbol in self.symbols.get(name, ())]


@dataclass
class _Checker:
    """Starts servers of one version under probes; programs are read once."""

    lab: Lab
    build: str
    _programs: dict[str, _ProbedProgram] = field(default_factory=dict)

    def checks(
        self,
        job: TrialsJob,
        graph: CountedGraph,
        work: CountedWork,
        opportunities: Sequence[CaseOpportunity],
    ) -> list[ArgumentCheck]:
        """Return what is seen of the arguments in a case; raises `TrialFailed`."""
        program = self._program(job.count_builds.get(graph.side))
        commands = program.commands(work.opportunities)
        parameters = self._parameters(program, opportunities)
        supposed = suppositions(work.opportunities)
        obstacles: dict[int, str] = {}
        probed: dict[int, Sequence[ProbedEntry]] = {}
        for index, opportunity in enumerate(opportunities):
            known = parameters.get((opportunity.function, opportunity.file))
            of_place = supposed[opportunity_location(opportunity)]
            entries = program.entries(opportunity, of_place, known) if commands else NO_COMMAND
            if isinstance(entries, str):
                obstacles[index] = entries
            elif len(entries) > MOST_PROBED:
                obstacles[index] = TOO_MANY
            else:
                probed[index] = entries
        if probed and program.built.program.arguments:
            raise TrialFailed(START_COMMAND)
        seen: dict[int, _Seen] = {}
        for of_pass in _in_passes(probed):
            seen |= self._seen(job, graph, program, commands, of_pass)
        return [
            _check(opportunity, supposed[opportunity_location(opportunity)], obstacles.get(index, ""), seen.get(index))
            for index, opportunity in enumerate(opportunities)
        ]

    def _seen(
        self,
        job: TrialsJob,
        graph: CountedGraph,
        program: _ProbedProgram,
        commands: Sequence[FunctionSymbol],
        probed: Mapping[int, Sequence[ProbedEntry]],
    ) -> "dict[int, _Seen]":
        """Return what is seen in one pass of the functions of opportunities, by the place of the opportunity."""
        place, server = self.lab.place, job.servers[graph.side]
        with place.trial_directory() as directory:
            trial = PinnedTrial(
                program.built.program, server, job.case, job.blocks[0].seed, directory, place.pinning(job)
            )
            counts = count_repeated(trial, program.content, commands[:MOST_PROBED], list(probed.values()))
        return {
            index: _Seen(counts.requests, counts.commands, calls, entries)
            for (index, entries), calls in zip(probed.items(), counts.functions, strict=True)
        }

    def _program(self, count_build: str | None) -> _ProbedProgram:
        """Return the count build, in which nothing is inlined, where it is here; else the version's build."""
        has_count_build = count_build is not None and self.lab.builds.find(count_build) is not None
        here = count_build if count_build is not None and has_count_build else self.build
        if here not in self._programs:
            built = self.lab.builds.get(here)
            try:
                content = read_file(built.program.path.resolve(), LARGEST_PROGRAM_BYTES)
                symbols = function_symbols(content)
            except (FileRefused, ValueError) as fault:
                raise TrialFailed(f"the program's symbols cannot be read: {fault}") from fault
            self._programs[here] = _ProbedProgram(built, content, symbols, has_count_build, _first_lines(built))
        return self._programs[here]

    def _parameters(
        self, program: _ProbedProgram, opportunities: Sequence[CaseOpportunity]
    ) -> dict[tuple[str, str], Sequence[Parameter] | None]:
        """Return the parameters of functions by name and file, where their definitions are known."""
        places = {(opportunity.function, opportunity.file) for opportunity in opportunities}
        definitions = {
            (name, file): [(file, first + number) for number in range(-1, LONGEST_DEFINITION_LINES)]
            for (name, file), first in program.first_lines.items()
            if (name, file) in places
        }
        wanted = [line for lines in definitions.values() for line in lines]
        builds, archives = self.lab.builds, self.lab.store.blobs
        # Either build is of this source; what is left of it may be there of either alone.
        texts = builds.source_lines(program.built.record.build, wanted, archives) if wanted else {}
        if not texts and program.is_count_build:
            texts = builds.source_lines(self.build, wanted, archives)
        return {
            place: parameters_of("\n".join(texts.get(line, "") for line in lines), place[0])
            for place, lines in definitions.items()
        }


def _first_lines(built: BuiltServer) -> dict[tuple[str, str], int]:
    """Return the lines that name the functions of a build, by name and file."""
    try:
        return {(function.name, function.file): function.first_line for function in source_functions(built)}
    except (OSError, ValueError):
        # Without debug information, registers are compared as they are.
        return {}


@dataclass(frozen=True)
class _Seen:
    """The calls of an opportunity's functions, which have these entries, in so many requests of a pass.

    `commands` is how often those of the requests' commands were called that are probed.
    """

    requests: int
    commands: int
    calls: ProbedCalls
    entries: Sequence[ProbedEntry]


def _in_passes(probed: Mapping[int, Sequence[ProbedEntry]]) -> list[dict[int, Sequence[ProbedEntry]]]:
    """Return the functions of opportunities in passes of at most `MOST_PROBED` entries, of which each has no more."""
    passes: list[dict[int, Sequence[ProbedEntry]]] = []
    room = 0
    for index, entries in probed.items():
        if len(entries) > room:
            passes.append({})
            room = MOST_PROBED
        passes[-1][index] = entries
        room -= len(entries)
    return passes


def _check(opportunity: CaseOpportunity, supposed: Supposition, obstacle: str, seen: _Seen | None) -> ArgumentCheck:
    check = ArgumentCheck(
        detector=opportunity.detector,
        function=opportunity.function,
        file=opportunity.file,
        method=ARGUMENT_METHOD,
        obstacle=obstacle,
    )
    if seen is None:
        return check
    requests, calls = seen.requests, seen.calls
    if calls.calls == 0:
        return check.model_copy(update={"requests": requests, "obstacle": NO_CALL if seen.commands else NO_REQUEST})
    repeated_per_op = calls.repeated / requests
    return check.model_copy(
        update={
            "requests": requests,
            "calls_per_op": calls.calls / requests,
            "repeated_per_op": repeated_per_op,
            "obstacle": _doubt(seen.entries, supposed, repeated_per_op),
        }
    )


def _doubt(entries: Sequence[ProbedEntry], supposed: Supposition, repeated_per_op: float) -> str:
    """Return why it is not known whether arguments were equal; nothing where it is."""
    if any(entry.parameters is None for entry in entries):
        # Registers that hold no argument differ by chance: equal ones prove that arguments are, others prove nothing.
        return "" if supposed.is_confirmed_by(repeated_per_op) else UNKNOWN_PARAMETERS
    if not all(sees_all(entry.parameters) for entry in entries):
        return "" if supposed.is_refuted_by(repeated_per_op) else UNSEEN_PARAMETERS
    return ""
