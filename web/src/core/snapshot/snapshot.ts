/** The figures of a sweep over sizes of data, as they are drawn and listed. */

import { count } from "../numbers.ts";
import type { EmulatedSnapshotReport, SeriesSlot, SnapshotPoint, SnapshotReport } from "../records.ts";
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

/** A count of the first run of each point of a side, in millions, over the size of the data. */
export function countedValues(report: EmulatedSnapshotReport, name: string, side: string): SizedValue[] {
  return report.points
    .filter((point) => point.side === side)
    .flatMap(({ size_bytes, runs }): SizedValue[] => {
      const value = runs[0]?.[name];
      return value === undefined ? [] : [[size_bytes / GIB, value / 1e6]];
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
