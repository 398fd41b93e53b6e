/** The values of single trials over time: what was measured, with all that the platform did that day. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, counted, metricLabel } from "../../core/numbers.ts";
import { METRICS, type TrialLine, type TrialValues } from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { queryUrl, useAnswer } from "../answers.ts";
import { drawChart, lineColour, palette } from "./chart.ts";
import type { DrawnData } from "./lines.ts";
import "uplot/dist/uPlot.min.css";

export function TrialValuesSection({ parameters }: { parameters: URLSearchParams }) {
  const [isOpen, setOpen] = useState(false);
  const asked = {
    case: parameters.getAll("case"),
    metric: parameters.getAll("metric"),
    platform: parameters.getAll("platform"),
  };
  const answer = useAnswer<TrialValues>(isOpen ? queryUrl("trial-values", asked) : null);
  if (asked.case.length === 0) {
    return null;
  }
  return (
    <details class="picker" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Measured values of trials over time</summary>
      {isOpen && (
        <Answered answer={answer}>
          {(values) =>
            values.lines.some((line) => line.means.length > 0) ? (
              <Shown values={values} />
            ) : (
              <p>No trial of these cases and metrics is recorded in this lab.</p>
            )
          }
        </Answered>
      )}
      <p class="quiet small">
        <a href={queryUrl("trial-values", asked)}>JSON</a>{" "}
        <a href={queryUrl("trial-values.csv", asked)}>CSV</a>
      </p>
    </details>
  );
}

function Shown({ values }: { values: TrialValues }) {
  const metrics = [...new Set(values.lines.map((line) => line.metric))];
  return (
    <>
      <p class="quiet small">
        Each point is the mean of trials in a row, of whatever commits were measured then; ribbons are its
        interval of 95 % and the extremes. Times of different days differ for reasons of the platform too: the
        changes above are not judged by these values. The newest{" "}
        {counted(values.most_values, "value", "values")} of each series are read.
        {values.left_out && " There are more series than are shown."}
      </p>
      {metrics.map((metric) => (
        <ValuesChart
          key={metric}
          metric={metric}
          lines={values.lines.filter((line) => line.metric === metric)}
        />
      ))}
    </>
  );
}

function ValuesChart({ metric, lines }: { metric: string; lines: readonly TrialLine[] }) {
  const place = useRef<HTMLDivElement>(null);
  const data = useMemo(() => overTime(lines), [lines]);
  const unit = METRICS[metric]?.unit ?? "";
  useEffect(() => {
    if (place.current === null) {
      return undefined;
    }
    const subjects = lines.map((line) => ({ ...line, history: 0, source: "", engine: "timed" }));
    const plot = drawChart(
      place.current,
      { chart: { lines: subjects, change_points: [] }, data, axis: "dates", hidden: new Set(), write: count },
      palette(),
      { onHover: () => undefined, onClick: () => undefined, onZoom: () => undefined },
    );
    return () => plot.destroy();
  }, [lines, data]);
  const colours = palette();
  return (
    <figure class="series-chart">
      <figcaption>
        <b>{metricLabel(metric)}</b>
        {unit !== "" && `, ${unit}`}
      </figcaption>
      <div ref={place} role="img" aria-label={summary(metric, lines)} />
      <ul class="plain-list series-legend">
        {lines.map((line, index) => (
          <li key={line.series}>
            <svg class="sample" viewBox="0 0 28 8" aria-hidden="true">
              <path d="M0 4H28" stroke={lineColour(index, colours)} stroke-width="3" />
            </svg>{" "}
            {nameAmong(line, lines)}{" "}
            <span class="quiet small">
              {counted(total(line), "trial", "trials")}, {extremes(line)} {unit}
            </span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

/** What a line is of; where others are of the same, that they were measured in other circumstances, by its series. */
function nameAmong(line: TrialLine, lines: readonly TrialLine[]): string {
  const name = (of: TrialLine) => [of.case, of.platform_name, of.variant, of.topology].join(", ");
  const isAlone = lines.filter((other) => name(other) === name(line)).length === 1;
  return isAlone ? name(line) : `${name(line)}, series ${line.series.slice(0, 8)}`;
}

function total({ counts }: TrialLine): number {
  return counts.reduce((sum, trials) => sum + trials, 0);
}

function extremes({ least, most }: TrialLine): string {
  return `${count(Math.min(...least))} to ${count(Math.max(...most))}`;
}

function summary(metric: string, lines: readonly TrialLine[]): string {
  const parts = lines.map((line) => `${line.case} on ${line.platform_name}: ${extremes(line)}`);
  return `${metricLabel(metric)} of trials over time. ${parts.join("; ")}.`;
}

/** The lines over the times of all of them, in seconds since 1970; trials without a time are left out. */
function overTime(lines: readonly TrialLine[]): DrawnData {
  const seconds = (time: string | undefined) => Date.parse(time ?? "") / 1000;
  const horizontal = [...new Set(lines.flatMap((line) => line.times.map(seconds)))]
    .filter(Number.isFinite)
    .sort((left, right) => left - right);
  const place = new Map(horizontal.map((at, index) => [at, index]));
  const column = (): (number | null)[] => new Array(horizontal.length).fill(null);
  return {
    horizontal,
    commits: [],
    lines: lines.map((line) => {
      const drawn = {
        changes: column(),
        lows: column(),
        highs: column(),
        least: column(),
        most: column(),
        points: column(),
        isAggregated: line.counts.some((trials) => trials > 1),
      };
      for (const [point, time] of line.times.entries()) {
        const at = place.get(seconds(time));
        if (at !== undefined) {
          drawn.changes[at] = line.means[point] ?? null;
          drawn.lows[at] = line.lows[point] ?? null;
          drawn.highs[at] = line.highs[point] ?? null;
          drawn.least[at] = line.least[point] ?? null;
          drawn.most[at] = line.most[point] ?? null;
          drawn.points[at] = point;
        }
      }
      return drawn;
    }),
  };
}
