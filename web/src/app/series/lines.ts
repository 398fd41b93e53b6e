/** The lines of a chart of series: their values by commit. */

import type { ChartCommit, ChartLine, SeriesChart } from "../../core/records.ts";

export type HorizontalAxis = "commits" | "dates";

/** What is drawn of a line, by the index of the horizontal value; null where it has no point. */
export interface DrawnLine {
  changes: (number | null)[];
  lows: (number | null)[];
  highs: (number | null)[];
  least: (number | null)[];
  most: (number | null)[];
  /** The index of the point in the columns of the line. */
  points: (number | null)[];
  /** Whether a point stands for several. */
  isAggregated: boolean;
}

export interface DrawnData {
  /** Places of commits, or seconds since 1970, in ascending order. */
  horizontal: number[];
  /** The commit at each horizontal value. */
  commits: ChartCommit[];
  lines: DrawnLine[];
}

/** The commits of a chart along its axis, and the lines over them. */
export function drawn(chart: SeriesChart, axis: HorizontalAxis): DrawnData {
  const order = chart.commits.map((commit, index) => ({ index, at: horizontal(commit, axis) }));
  // Of an axis of dates the order may be another one: releases of older branches come between those of newer ones.
  order.sort((left, right) => left.at - right.at || left.index - right.index);
  const place = new Map(order.map(({ index }, sorted) => [index, sorted]));
  return {
    horizontal: order.map(({ at }) => at),
    commits: order.flatMap(({ index }) => chart.commits[index] ?? []),
    lines: chart.lines.map((line) => drawnLine(line, place, order.length)),
  };
}

function horizontal(commit: ChartCommit, axis: HorizontalAxis): number {
  return axis === "commits" ? commit.index : Date.parse(commit.time) / 1000;
}

function drawnLine(line: ChartLine, place: ReadonlyMap<number, number>, length: number): DrawnLine {
  const column = (): (number | null)[] => new Array(length).fill(null);
  const all: DrawnLine = {
    changes: column(),
    lows: column(),
    highs: column(),
    least: column(),
    most: column(),
    points: column(),
    isAggregated: line.counts.length > 0,
  };
  for (const [point, commit] of line.commits.entries()) {
    const at = place.get(commit);
    if (at !== undefined) {
      all.changes[at] = percent(line.changes[point]);
      all.lows[at] = percent(line.lows[point]);
      all.highs[at] = percent(line.highs[point]);
      all.least[at] = percent(line.least[point]);
      all.most[at] = percent(line.most[point]);
      all.points[at] = point;
    }
  }
  return all;
}

function percent(fraction: number | undefined): number | null {
  return fraction === undefined ? null : fraction * 100;
}

/** The line that a change belongs to, -1 where it is not shown. */
export function lineOf(
  lines: readonly Pick<ChartLine, "history" | "case" | "metric" | "topology" | "source">[],
  change: { history: number; case: string; metric: string; topology: string; source: string },
): number {
  return lines.findIndex(
    (line) =>
      line.history === change.history &&
      line.case === change.case &&
      line.metric === change.metric &&
      line.topology === change.topology &&
      line.source === change.source,
  );
}
