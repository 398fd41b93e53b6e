/** The figures of a sweep over sizes of data, as they are drawn and listed. */

import { count, interval, share } from "../numbers.ts";
import type { SeriesSlot, SnapshotPoint, SnapshotReport, Verdict } from "../records.ts";
import type { SideName } from "../sides.ts";

export type Load = SnapshotPoint["load"];

export const GIB = 2 ** 30;
const MIB = 2 ** 20;
const US_PER_MS = 1000;

/** What one or several repetitions measured at a size: resident memory in GiB, and a figure. */
export type SizedValue = [gib: number, value: number];

/** A side of a sweep, and as what it is drawn; its name is empty where it is the only one. */
export interface DrawnSide {
  side: SideName;
  name: string;
}

/** The sides that are drawn in one chart: each beside the base, or the only one. */
export function drawnTogether(sides: { name: string }[]): DrawnSide[][] {
  const [base, ...others] = sides.map(({ name }) => name);
  if (base === undefined || others.length === 0) {
    return [[{ side: "head", name: base ?? "" }]];
  }
  return others.map((name) => [
    { side: "base", name: base },
    { side: "head", name },
  ]);
}

/** What a chart's title names its sides by; base and head are in its legend. */
export function drawnNames(drawn: DrawnSide[]): string {
  const names = drawn.filter(({ side, name }) => name !== "" && name !== side).map(({ name }) => name);
  return names.length === 0 ? "" : `, ${names.join(" and ")}`;
}

/** A metric of each repetition of a side under these loads, over the memory that the server had. */
export function repetitionValues(
  report: SnapshotReport,
  metric: string,
  loads: Load[],
  name = "",
): SizedValue[] {
  return report.points
    .filter(({ load, side }) => loads.includes(load) && side === name)
    .flatMap(({ repetitions }) => repetitions)
    .flatMap(({ metrics }): SizedValue[] => {
      const [resident, value] = [metrics.resident_bytes, metrics[metric]];
      return resident === undefined || value === undefined ? [] : [[resident / GIB, value / US_PER_MS]];
    })
    .sort(([left], [right]) => left - right);
}

/** The median of a metric in each point of a side under a load, over the median memory. */
export function medianValues(report: SnapshotReport, metric: string, load: Load, name = ""): SizedValue[] {
  return report.points
    .filter((point) => point.load === load && point.side === name)
    .flatMap(({ metrics }): SizedValue[] => {
      const [resident, value] = [metrics.resident_bytes, metrics[metric]];
      return resident === undefined || value === undefined
        ? []
        : [[resident.median / GIB, value.median / US_PER_MS]];
    });
}

/** The longest latency in milliseconds of each slot around an event in which replies came; seconds are from the event. */
export function longestOf(series: SeriesSlot[]): [seconds: number, milliseconds: number][] {
  return series.flatMap(({ at_seconds, max_us }): [number, number][] =>
    max_us === null ? [] : [[at_seconds, max_us / US_PER_MS]],
  );
}

/** A size of data, which stays on one line: `512 MiB`, `1.5 GiB`. */
export function sizeText(bytes: number): string {
  return bytes >= GIB ? `${count(bytes / GIB)}\u00a0GiB` : `${count(bytes / MIB)}\u00a0MiB`;
}

interface FigureColumn {
  heading: string;
  metric: string;
  write: (value: number) => string;
}

const milliseconds = (value: number) => count(value / US_PER_MS);

/** The columns of the table. */
export const COLUMNS: FigureColumn[] = [
  { heading: "fork, ms", metric: "fork_us", write: milliseconds },
  { heading: "longest pause, ms", metric: "longest_pause_us", write: milliseconds },
  { heading: "p99 during, ms", metric: "during_p99_us", write: milliseconds },
  { heading: "p99.9 during, ms", metric: "during_p99_9_us", write: milliseconds },
  { heading: "p99.9 outside, ms", metric: "outside_p99_9_us", write: milliseconds },
  { heading: "event, s", metric: "event_seconds", write: count },
  { heading: "copied, MiB", metric: "cow_bytes", write: (value) => count(value / MIB) },
  { heading: "throughput lost", metric: "throughput_lost", write: share },
  { heading: "normal after, s", metric: "seconds_until_normal", write: count },
];

/** The columns of which any point has a value. */
export function shownColumns(points: SnapshotPoint[]): FigureColumn[] {
  return COLUMNS.filter(({ metric }) => points.some(({ metrics }) => metrics[metric] !== undefined));
}

/** A cell of the table, and the interval of its median in words. */
export function cellOf(point: SnapshotPoint, column: FigureColumn): { text: string; interval: string } {
  const estimate = point.metrics[column.metric];
  if (estimate === undefined) {
    return { text: count(null), interval: "" };
  }
  const { median, low, high } = estimate;
  return { text: column.write(median), interval: `${column.write(low)} to ${column.write(high)}` };
}

/** How the metrics with verdicts are written: a label with the unit, and by what values are divided. */
const JUDGED: Record<string, { label: string; divisor: number }> = {
  fork_us: { label: "fork, ms", divisor: US_PER_MS },
  longest_pause_us: { label: "longest pause, ms", divisor: US_PER_MS },
  during_p99_9_us: { label: "p99.9 during, ms", divisor: US_PER_MS },
  event_seconds: { label: "event, s", divisor: 1 },
  cow_bytes: { label: "copied, MiB", divisor: MIB },
};

/** A bound beyond a hundredfold says that nothing is known: it is written as infinite. */
const LARGEST_CHANGE = 100;

interface JudgedCells {
  label: string;
  values: string;
  bounds: string;
}

/** The metric of a verdict with its unit, its values on both sides, and the bounds of its change. */
export function judgedCells({ metric, base, head, low, high }: Verdict): JudgedCells {
  const { label, divisor } = JUDGED[metric] ?? { label: metric, divisor: 1 };
  const written = (value: number | null) => count(value === null ? null : value / divisor);
  const bounds = interval(low, high === null || high >= LARGEST_CHANGE ? null : high);
  return { label, values: `${written(base)} → ${written(head)}`, bounds };
}
