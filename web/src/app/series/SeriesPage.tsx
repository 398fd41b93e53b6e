import { useCallback, useState } from "preact/hooks";
import { counted } from "../../core/numbers.ts";
import type { SeriesChart as Chart, ChartCommit, SeriesList } from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { useAnswer } from "../answers.ts";
import { ChangeTable } from "../changes/ChangeTable.tsx";
import { setParameters, useTitle } from "../navigation.ts";
import { namesSeries, SERIES_LIST, seriesQuery } from "../pageQueries.ts";
import type { PageProps } from "../routes.ts";
import type { HorizontalAxis } from "./lines.ts";
import { SeriesChart } from "./SeriesChart.tsx";
import { SeriesPicker } from "./SeriesPicker.tsx";
import { TrialValuesSection } from "./TrialValuesSection.tsx";
import "./series.css";

/** Series over commits: any of them in one chart, with their changes below it. */
export default function SeriesPage({ parameters }: PageProps) {
  const isAsked = namesSeries(parameters);
  const answer = useAnswer<Chart>(isAsked ? seriesQuery(parameters) : null);
  useTitle(isAsked ? `${seriesNames(parameters)}: series` : null);
  const [isChoosing, setChoosing] = useState(!isAsked);
  return (
    <>
      <h1>Series</h1>
      <p class="quiet">
        How metrics of cases went over the commits of a range. Work (instructions, system calls, allocations)
        is counted at each commit. Times of different days cannot be compared: each commit is timed beside
        another one in one go, and the chart adds these differences up.
      </p>
      {isAsked && (
        <Answered answer={answer}>{(chart) => <Shown chart={chart} parameters={parameters} />}</Answered>
      )}
      {answer.fault?.status === 404 && <WithoutNamed parameters={parameters} />}
      {isAsked && <TrialValuesSection parameters={parameters} />}
      <details
        class="picker"
        open={isChoosing}
        onToggle={(event) => event.target === event.currentTarget && setChoosing(event.currentTarget.open)}
      >
        <summary>Choose cases, metrics and platforms</summary>
        {isChoosing && <Choice parameters={parameters} />}
      </details>
    </>
  );
}

/** What the address names of cases and groups, and of metrics and platforms. */
function seriesNames(parameters: URLSearchParams): string {
  const named = (name: string) => parameters.getAll(name).join(", ");
  return ["case", "group", "metric", "platform"]
    .map(named)
    .filter((names) => names !== "")
    .join(", ");
}

/** Leads from commits and histories that the address names, and that there are not, to the series as they are now. */
function WithoutNamed({ parameters }: { parameters: URLSearchParams }) {
  const others = new URLSearchParams(parameters);
  for (const name of ["since", "first", "last", "history"]) {
    others.delete(name);
  }
  return (
    <p>
      <a href={`/series?${others}`}>The same series in the newest histories, with all commits</a>
    </p>
  );
}

function Choice({ parameters }: { parameters: URLSearchParams }) {
  const list = useAnswer<SeriesList>(SERIES_LIST);
  const chosen = {
    cases: parameters.getAll("case"),
    metrics: parameters.has("metric") ? parameters.getAll("metric") : ["instructions_per_op"],
    histories: parameters.getAll("history"),
  };
  return (
    <Answered answer={list}>
      {(series) =>
        series.cases.length === 0 ? (
          <p>
            No history is kept yet. <code>zerolap history --repo DIRECTORY --measure A..B</code> measures one,
            judges it and keeps it for this page.
          </p>
        ) : (
          <SeriesPicker list={series} chosen={chosen} />
        )
      }
    </Answered>
  );
}

function Shown({ chart, parameters }: { chart: Chart; parameters: URLSearchParams }) {
  const axis: HorizontalAxis = parameters.get("axis") === "dates" ? "dates" : "commits";
  const zoom = useCallback((first: string, last: string) => setParameters({ first, last }), []);
  if (chart.lines.length === 0) {
    return <p>There is no such series. Choose others below.</p>;
  }
  return (
    <>
      <Controls chart={chart} parameters={parameters} axis={axis} />
      <SeriesChart chart={chart} axis={axis} onZoom={zoom} />
      {chart.left_out > 0 && (
        <p class="warning">
          {counted(chart.left_out, "more series is", "more series are")} not shown: choose fewer cases.
        </p>
      )}
      {chart.platform_steps.map(({ history, since, text }) => (
        <p key={`${history} ${since}`} class="note">
          {text}
        </p>
      ))}
      <h2>Changes</h2>
      {chart.change_points.length === 0 ? (
        <p>No step and no drift in what is shown.</p>
      ) : (
        <ChangeTable changes={chart.change_points} caption="The changes of the series that are shown" />
      )}
      <p class="quiet small">
        ▲▼ mark changes: up for more, down for less, red for worse, blue for better; open triangles are steps
        of time that are not confirmed, or accepted. Ribbons are intervals of 95 %. Dashed upright lines are
        releases.
      </p>
      <p class="quiet small">
        points: <a href={seriesQuery(parameters)}>JSON</a>{" "}
        <a href={seriesQuery(parameters, "series.csv")}>CSV</a>, changes:{" "}
        <a href={seriesQuery(parameters, "series-changes.csv")}>CSV</a>
      </p>
    </>
  );
}

function Controls({
  chart,
  parameters,
  axis,
}: {
  chart: Chart;
  parameters: URLSearchParams;
  axis: HorizontalAxis;
}) {
  const releases = chart.commits.filter((commit) => commit.is_release);
  const since = parameters.get("since") ?? "";
  const isZoomed = parameters.has("first") || parameters.has("last");
  const base = chart.lines[0]?.base_index;
  const named = chart.commits.find((commit) => commit.index === base)?.name;
  return (
    <div class="series-controls">
      <label>
        change since{" "}
        <select value={since} onChange={(event) => setParameters({ since: event.currentTarget.value })}>
          <option value="">the first point</option>
          {releases.map(({ commit, name }) => (
            <option key={commit} value={commit}>
              {name}
            </option>
          ))}
          {since !== "" && !releases.some(({ commit }) => commit === since) && (
            <option value={since}>{named ?? since.slice(0, 12)}</option>
          )}
        </select>
      </label>
      <fieldset class="choices">
        <legend class="sr">Horizontal axis</legend>
        {(["commits", "dates"] as const).map((name) => (
          <button
            key={name}
            type="button"
            class="choice"
            aria-pressed={axis === name}
            onClick={() => setParameters({ axis: name === "commits" ? null : name })}
          >
            by {name === "commits" ? "commit" : "date"}
          </button>
        ))}
      </fieldset>
      <button
        type="button"
        class="choice"
        disabled={!isZoomed}
        onClick={() => setParameters({ first: null, last: null })}
      >
        all {counted(chart.total, "commit", "commits")}
      </button>
      <StretchChoice chart={chart} />
    </div>
  );
}

const SUBJECT_CHARACTERS = 50;

/** A commit as it is chosen from a list: a hash alone says nothing. */
function inAList({ name, time, subject }: ChartCommit): string {
  const short =
    subject.length > SUBJECT_CHARACTERS ? `${subject.slice(0, SUBJECT_CHARACTERS - 1)}…` : subject;
  return `${name}, ${time.slice(0, 10)}, ${short}`;
}

/** Zooms by the keyboard: both ends are chosen from lists. */
function StretchChoice({ chart }: { chart: Chart }) {
  const { commits } = chart;
  const end = (name: "first" | "last", at: number) => (
    <span>
      <label for={`stretch-${name}`}>{name === "first" ? "from" : "to"}</label>{" "}
      <select
        id={`stretch-${name}`}
        class="stretch"
        value={commits.at(at)?.commit}
        onChange={(event) => setParameters({ [name]: event.currentTarget.value })}
      >
        {commits.map((commit) => (
          <option key={commit.commit} value={commit.commit}>
            {inAList(commit)}
          </option>
        ))}
      </select>
    </span>
  );
  return (
    <>
      {end("first", 0)}
      {end("last", -1)}
    </>
  );
}
