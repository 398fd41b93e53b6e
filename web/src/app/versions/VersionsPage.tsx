import { useMemo, useState } from "preact/hooks";
import { HeatMap } from "../../core/charts/HeatMap.tsx";
import { change, counted, interval, metricLabel } from "../../core/numbers.ts";
import type { ListedCommit, MapRow, VersionMap } from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { useAnswer } from "../answers.ts";
import { ChangeTable } from "../changes/ChangeTable.tsx";
import { seriesUrl } from "../changes/links.ts";
import { setParameters } from "../navigation.ts";
import { versionsQuery } from "../pageQueries.ts";
import type { PageProps } from "../routes.ts";
import { historyName } from "../series/SeriesPicker.tsx";
import "../series/series.css";

/** Changes from here on have the full colour. */
const FULL_COLOUR = 0.1;
const MOST_CASES_LINKED = 20;

/** What commands have gained and lost from release to release. */
export default function VersionsPage({ parameters }: PageProps) {
  const answer = useAnswer<VersionMap>(versionsQuery(parameters));
  return (
    <>
      <h1>Versions</h1>
      <Answered answer={answer}>
        {(map) =>
          map.history === null ? (
            <p>
              No history with two releases is kept yet.{" "}
              <code>zerolap history --repo DIRECTORY --measure tags:A..B</code> measures the releases from A
              to B.
            </p>
          ) : (
            <Shown map={map} number={map.history.number} parameters={parameters} />
          )
        }
      </Answered>
      {answer.fault?.status === 404 && <WithoutNamed parameters={parameters} />}
    </>
  );
}

/** Leads from a version or history that the address names, and that there is not, to what there is. */
function WithoutNamed({ parameters }: { parameters: URLSearchParams }) {
  const others = new URLSearchParams(parameters);
  for (const name of ["since", "history"]) {
    others.delete(name);
  }
  return (
    <p>
      <a href={`/versions?${others}`}>The newest history since its first version</a>
    </p>
  );
}

interface ShownProperties {
  map: VersionMap;
  number: number;
  parameters: URLSearchParams;
}

function Shown({ map, number, parameters }: ShownProperties) {
  const [text, setText] = useState("");
  const isStep = parameters.get("against") === "before";
  const isCase = parameters.get("rows") === "case";
  const rows = useMemo(() => lines(map, text), [map, text]);
  const columns = map.versions.map((version, index) => ({
    ...version,
    index,
    key: version.commit,
    label: version.name.slice(0, 12),
    title: `${version.name}, ${version.time.slice(0, 10)}`,
  }));
  const cell = (row: MapRow, column: ListedCommit & { index: number }) => {
    const { index } = column;
    const from = map.versions[isStep ? index - 1 : map.since];
    const [step, low, high] = [row.changes[index], row.lows[index], row.highs[index]];
    return typeof step !== "number" ||
      typeof low !== "number" ||
      typeof high !== "number" ||
      from === undefined
      ? null
      : shownCell(
          { change: step, low, high, cases: row.measured[index] ?? 0 },
          { map, number, row, from, to: column },
        );
  };
  const since = map.versions[map.since]?.name ?? "";
  return (
    <>
      <p class="quiet">
        The change of {metricLabel(map.metric)} {isStep ? "from the version before" : `since ${since}`} up to
        each version, {isCase ? "by case" : "by command: the geometric mean over its cases"}.{" "}
        {map.better === "more" ? "More is better" : "Less is better"}: red is worse, blue is better; the
        colour is full from {FULL_COLOUR * 100} % on. A cell leads to the series behind it. A hatched cell is
        not measured.
      </p>
      <Controls map={map} parameters={parameters} />
      {map.rows.length === 0 ? (
        <p>No case of this history has the metric {metricLabel(map.metric)}. Choose another one.</p>
      ) : (
        <>
          <search class="filter">
            <input
              type="search"
              aria-label="Filter by command, case or group"
              placeholder="command, case or group"
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </search>
          <HeatMap
            caption={`${counted(rows.length - 1, isCase ? "case" : "command", isCase ? "cases" : "commands")}`}
            corner={isCase ? "case" : "command"}
            rows={rows}
            columns={columns}
            cell={cell}
            limit={FULL_COLOUR}
          />
        </>
      )}
      {map.accepted.length > 0 && (
        <details>
          <summary>
            The cells contain {counted(map.accepted.length, "accepted change", "accepted changes")}
          </summary>
          <ChangeTable changes={map.accepted} caption="Accepted changes, the largest first" />
        </details>
      )}
      {map.versions_left_out > 0 && (
        <p class="note">
          {counted(map.versions_left_out, "older version is", "older versions are")} not shown.
        </p>
      )}
      {map.series_left_out > 0 && (
        <p class="warning">{counted(map.series_left_out, "more series is", "more series are")} not shown.</p>
      )}
      <p class="quiet small">
        <a href={versionsQuery(parameters)}>JSON</a>{" "}
        <a href={versionsQuery(parameters, "versions.csv")}>CSV</a>
      </p>
    </>
  );
}

type Line = MapRow & { key: string; label: string; title: string };

/** The mean over all, then the rows that a text matches. */
function lines(map: VersionMap, text: string): Line[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = map.rows.filter((row) => {
    const names = [row.name, ...row.groups, ...row.cases].join(" ").toLowerCase();
    return words.every((word) => names.includes(word));
  });
  const line = (row: MapRow): Line => ({
    ...row,
    key: row.name,
    label: row.name,
    title: `${row.groups.join(", ")}: ${row.cases.slice(0, MOST_CASES_LINKED).join(", ")}`,
  });
  return [
    ...(map.total === null ? [] : [{ ...line(map.total), label: "all, mean", title: "all" }]),
    ...matching.map(line),
  ];
}

interface Cell {
  change: number;
  low: number;
  high: number;
  cases: number;
}

interface CellContext {
  map: VersionMap;
  number: number;
  row: MapRow;
  from: ListedCommit;
  to: ListedCommit;
}

function shownCell(of: Cell, { map, number, row, from, to }: CellContext) {
  const isAll = row === map.total || row.name === map.total?.name;
  const direction = map.better === "more" ? -1 : 1;
  const isCertain = of.low > 0 || of.high < 0 || of.change === 0;
  // Without a sign, as in the other reports.
  const amount = of.change === 0 ? "0 %" : change(of.change);
  const words = `${amount} ${interval(of.low, of.high)} % in ${row.name} from ${from.name} to ${to.name}`;
  const cases = of.cases > 1 ? `, mean of ${counted(of.cases, "case", "cases")}` : "";
  return {
    // What may be zero has no colour.
    value: isCertain ? of.change * direction : null,
    text: amount,
    title: `${words}${cases}${isCertain ? "" : "; the interval includes zero"}`,
    ...(isAll || from.commit === to.commit
      ? {}
      : {
          href: seriesUrl({
            case: row.cases.slice(0, MOST_CASES_LINKED),
            metric: map.metric,
            history: number,
            since: from.commit,
            first: from.commit,
            last: to.commit,
          }),
        }),
  };
}

function Controls({ map, parameters }: { map: VersionMap; parameters: URLSearchParams }) {
  const choice = (
    name: string,
    label: string,
    chosen: string,
    options: readonly (readonly [string, string])[],
    others: Record<string, null> = {},
  ) => (
    <label>
      {label}{" "}
      <select
        value={chosen}
        onChange={(event) => setParameters({ [name]: event.currentTarget.value, ...others })}
      >
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <div class="series-controls">
      {choice(
        "history",
        "history",
        String(map.history?.number ?? ""),
        map.histories.map((history) => [String(history.number), historyName(history)]),
        // Another history has other versions.
        { since: null },
      )}
      {choice(
        "metric",
        "metric",
        map.metric,
        [...new Set([map.metric, ...map.metrics])].map((name) => [name, metricLabel(name)]),
      )}
      {choice("against", "compare", parameters.get("against") ?? "since", [
        ["since", "with one release"],
        ["before", "with the version before"],
      ])}
      {parameters.get("against") !== "before" &&
        choice(
          "since",
          "since",
          map.versions[map.since]?.name ?? "",
          map.versions.map(({ name }) => [name, name]),
        )}
      {choice("rows", "rows", parameters.get("rows") ?? "command", [
        ["command", "commands"],
        ["case", "cases"],
      ])}
    </div>
  );
}
