"""`zerolap history import`, `imported` and `export`: series of other tools, in and out."""

from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerolap import writer
from zerolap.cli import options
from zerolap.cli.option_groups import Only, Without, flag, option
from zerolap.errors import UsageError

if TYPE_CHECKING:
    from zerolap.history import HistoryRange
    from zerolap.records import History, ImportedSeries
    from zerolap.store import Store

IMPORT_HELP = """Import series that others have measured, from a file or a Redis server with time series.

A file is a table (CSV) with the columns time, commit and one for each metric, or time, commit, case, metric and \
value; what `zerolap history` writes by --csv and --json; the JSON of `redis-cli --json TS.MRANGE … WITHLABELS …`; or \
a log of histograms. Of a server, the series of redis-benchmarks-specification are read, or those that --filter selects.

Imported series are never mixed with measured ones: `zerolap history imported` shows them, and `zerolap history \
--imported SOURCE` shows them beside those of a range. Importing again replaces points of the same time and commit. A \
row that cannot be read is left out and counted.

Examples:

    zerolap history import results.csv --source nightly
    zerolap history import redis://bench.example:6379 --source lab --filter branch=unstable --filter test_name=get
    zerolap history import results.csv --better rps=more --better rss=less
"""
IMPORTED_HELP = """Show what was imported: the list of sources, or the series of one with their changes.

Noise is estimated from the series itself. A change is a hint: nobody has measured both sides again.

Examples:

    zerolap history imported
    zerolap history imported nightly --csv points.csv
    zerolap history imported 'lab*' --benchfmt -
    zerolap history imported nightly --remove
"""
EXPORT_HELP = """Write a history into a Redis server with time series, as redis-benchmarks-specification does.

Keys, labels and the lists of tests, branches and versions are those of that tool, so that its dashboards show the \
series. Counted metrics have their values. Of timed ones a history knows only ratios to the first commit of the range, \
which the name of the metric ends with. Throughput and latency as they were measured, the medians over all starts, \
have the names that memtier_benchmark's results have there. \
Exporting again replaces samples of the same times.

Examples:

    zerolap history export --repo ~/redis --range tags:7.2.0..HEAD --to redis://grafana.example:6379
    zerolap history export --repo ~/redis --to redis://:PASSWORD@localhost --project redis/redis --branch unstable
"""

Imported = Annotated[
    str | None,
    typer.Option(
        "--imported",
        help="Show series that others have measured too: the name of an import, or a glob.",
        metavar="NAME",
    ),
]


@dataclass(frozen=True)
class ImportOptions:
    """Which series are imported, and as what."""

    source: str | None = option("Name of the import; by default that of the file or server.", "NAME")
    case: str | None = option("Case of a table that names none; by default the name of the file.", "NAME")
    filters: list[str] | None = option("Of a server, only series with this label.", "LABEL=VALUE", name="--filter")
    better: list[str] | None = option(
        "Which values of a metric are better, where its name does not say.", "METRIC=less|more"
    )


@dataclass(frozen=True)
class ChosenOptions:
    """Which series of an import are shown."""

    cases: list[str] | None = option("Only cases of this name or glob.", "NAME", name="--case")
    metrics: list[str] | None = option("Only metrics of this name or glob.", "NAME", name="--metric")
    remove: bool = flag("Remove the series of this import.")

    def has(self, series: "ImportedSeries") -> bool:
        """Return whether a series has one of the cases and metrics."""
        return all(
            not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
            for name, patterns in ((series.case, self.cases), (series.metric, self.metrics))
        )


@dataclass(frozen=True)
class LabelOptions:
    """What the labels of exported series name."""

    project: str | None = option("Organization and repository of the labels; by default those of origin.", "ORG/REPO")
    branch: str | None = option("Branch of the labels; by default that of HEAD.", "NAME")
    environment: str = option("Label triggering_env.", "NAME", default="ci")
    platform_name: str | None = option("Label running_platform; by default this machine's name.", "NAME")
    build_variant: str | None = option("Label build_variant; by default the variant's name.", "NAME")


def import_series(
    place: Annotated[str, typer.Argument(metavar="FILE|redis://HOST", help="Where the series are.")],
    *,
    given: ImportOptions,
    reports: Annotated[options.Reports, Only("json", "quiet")],
    store: options.StoreLocation = None,
) -> None:
    """Read series, and keep them in the store."""
    from zerolap.cli.output import write_document
    from zerolap.exchange import (
        BETTER,
        LONGEST_SOURCE,
        SCHEMES,
        CollectedPoints,
        read_file,
        read_server,
        source_of,
    )
    from zerolap.store import Store

    is_server = place.startswith(SCHEMES)
    if not is_server and given.filters:
        raise UsageError("`--filter` selects series of a server", hint="leave it out, or import redis://HOST:PORT")
    for text in given.filters or []:
        if not all(text.partition("=")):
            raise UsageError(f"`--filter {text}` is not valid", hint="write --filter branch=unstable")
    name = (given.source or (source_of(place) if is_server else Path(place).stem)).strip()
    if not name or len(name) > LONGEST_SOURCE or not name.isprintable():
        raise UsageError("the name of the import is empty, too long or not printable", hint="--source NAME")
    stated = _stated_better(given.better)
    points = CollectedPoints(name)
    with Store.open(store) as results:
        if is_server:
            read_server(place, given.filters or [], points)
        else:
            read_file(Path(place), given.case, points)
        read = points.result()
        series = [
            replace(each, labels={**each.labels, BETTER: stated[each.metric]}) if each.metric in stated else each
            for each in read.series
        ]
        if not read.points:
            raise UsageError(
                f"`{name}` has no points that can be read",
                hint="" if read.notes else "docs/history-exchange.md lists what is read",
                details="\n".join(read.notes),
            )
        kept = sum(each.points for each in results.imported.sources() if each.name == name)
        results.imported.keep(series)
        added = sum(each.points for each in results.imported.sources() if each.name == name) - kept
    document = {
        "schema": "zerolap.history-import/1",
        "source": name,
        "series": len(series),
        "points": read.points,
        "replaced": read.points - added,
        "notes": read.notes,
    }
    write_document(reports.json, document)
    if not reports.quiet:
        for note in read.notes:
            writer.note(f"note: {note}")
        replaced = f"; {read.points - added:,} of them were there, and are replaced" if read.points > added else ""
        (writer.note if reports.json == "-" else writer.show)(
            f"imported {read.points:,} points of {len(series):,} series as `{name}`{replaced}"
        )


def imported(
    context: typer.Context,
    source: Annotated[
        str | None, typer.Argument(metavar="SOURCE", help="Name of an import, or a glob.", show_default=False)
    ] = None,
    *,
    chosen: ChosenOptions,
    reports: Annotated[options.Reports, Without("html", "junit", "sarif")],
    store: options.StoreLocation = None,
) -> None:
    """List imports, show one, or remove one."""
    from zerolap.cli.output import write_history
    from zerolap.cli.repeated_command import command_line
    from zerolap.exchange import imported_history
    from zerolap.store import Store

    if source is None and (chosen != ChosenOptions() or not {"json"}.issuperset(reports.targets)):
        raise UsageError(
            "the series to show or remove have no source", hint="zerolap history imported lists the sources"
        )
    with Store.open(store) as results:
        if source is None:
            _list_sources(results, reports)
            return
        if chosen.remove:
            if not (count := results.imported.remove(source)):
                raise _no_source(source, results)
            writer.show(f"removed {count:,} series of `{source}`")
            return
        series = [each for each in chosen_imports(results, source) if chosen.has(each)]
    if not series:
        raise UsageError(f"no series of `{source}` has that case and metric", hint="leave --case or --metric out")
    document = imported_history(series, source, command_line(context))
    write_history(document, reports)


def export(
    to: Annotated[str, typer.Option("--to", help="Server with the TimeSeries module.", metavar="redis://HOST:PORT")],
    *,
    cases: options.CaseOptions,
    commits: Annotated[options.RangeOptions, Without("platform")],
    named: LabelOptions,
    reports: Annotated[options.Reports, Only("quiet")],
    store: options.StoreLocation = None,
) -> None:
    """Write the series of a history into a server."""
    from zerolap.exchange import (
        METRICS_OF_MEMTIER,
        PublicNames,
        TimeSeriesServer,
        public_lists_of,
        public_series_of,
        source_of,
    )
    from zerolap.history import HistoryHeader, history_of, with_absolute_values
    from zerolap.lab import Lab
    from zerolap.store import Store

    source_of(to)
    asked = commits.asked(cases.selected())
    organization, repository = _project(asked, named.project)
    with Store.open_known(store) as results:
        asked = commits.built(asked, results)
        history = history_of(asked, Lab(results), HistoryHeader())
        document = with_absolute_values(history, asked, list(METRICS_OF_MEMTIER), results)
    names = PublicNames(
        organization=organization,
        repository=repository,
        branch=named.branch or _branch_of(asked),
        environment=named.environment,
        build_variant=named.build_variant or document.variant,
        platform=named.platform_name or document.platform.name,
    )
    if not any(series.points for series in document.series):
        raise UsageError("nothing of the range is measured", hint="zerolap history --measure RANGE measures")
    with TimeSeriesServer.connected(to) as server:
        series = public_series_of(document, names)
        samples = sum(server.write(each) for each in series)
        for key, members in public_lists_of(document, names).items():
            server.list_members(key, members)
    if not reports.quiet:
        writer.show(f"exported {samples:,} samples of {len(series):,} keys to {server.name}")


def chosen_imports(results: "Store", source: str) -> "list[ImportedSeries]":
    """Return the series of sources that match a glob; raises `UsageError` where there are none."""
    series = results.imported.series(source)
    if not series:
        raise _no_source(source, results)
    return series


def beside_imported(document: "History", source: str | None, results: "Store") -> "History":
    """Return a history with the imported series of `source` beside its own; raises `UsageError` for an unknown one."""
    if source is None:
        return document
    from zerolap.exchange import with_imported

    return with_imported(document, chosen_imports(results, source))


def _stated_better(pairs: list[str] | None) -> dict[str, str]:
    stated = {}
    for pair in pairs or []:
        metric, _, better = pair.rpartition("=")
        if not metric or better not in ("less", "more"):
            raise UsageError(f"`--better {pair}` is not valid", hint="write --better rps=more")
        stated[metric] = better
    return stated


def _list_sources(results: "Store", reports: options.Reports) -> None:
    from zerolap.cli.output import write_document

    sources = results.imported.sources()
    write_document(reports.json, {"schema": "zerolap.history-sources/1", "sources": [asdict(each) for each in sources]})
    if not reports.has_table:
        return
    for each in sources:
        writer.show(
            f"{each.name}  {each.series:,} series, {each.points:,} points, {each.first[:10]} to {each.last[:10]}"
        )
    if not sources:
        writer.show("nothing is imported: zerolap history import FILE")


def _no_source(source: str, results: "Store") -> Exception:
    names = [each.name for each in results.imported.sources()]
    hint = f"imported: {', '.join(names[:10])}" if names else "zerolap history import FILE"
    return UsageError(f"nothing is imported as `{source}`", hint=hint)


def _project(asked: "HistoryRange", project: str | None) -> tuple[str, str]:
    """Return organization and repository of the labels; raises `UsageError`."""
    import re

    from zerolap.build import run_git

    text = project or run_git(asked.repository, "remote", "get-url", "origin").text
    match = re.search(r"(?:^|[:/])([\w.-]+)/([\w.-]+?)(?:\.git)?/?$", text)
    if match is None or (project is not None and project.count("/") != 1):
        raise UsageError("the project of the series is not known", hint="--project ORG/REPO")
    return match[1], match[2]


def _branch_of(asked: "HistoryRange") -> str:
    from zerolap.build import run_git

    branch = run_git(asked.repository, "symbolic-ref", "--short", "--quiet", "HEAD").text
    if not branch:
        raise UsageError("HEAD is on no branch", hint="--branch NAME")
    return branch
