/** How a run is read: what became of a case, the headline, the order of cases. */

import { counted } from "./numbers.ts";
import { trials } from "./reading.ts";
import type { RunCase, RunReport } from "./run-document.ts";

export const RUN_WORDS = ["measured", "failed", "invalid"] as const;
export type RunWord = (typeof RUN_WORDS)[number];

export function runWord(one: RunCase): RunWord {
  if (one.failure !== null) {
    return "failed";
  }
  return one.validity.valid ? "measured" : "invalid";
}

export function runHeadline({ cases }: RunReport): string {
  const measured = cases.filter((one) => runWord(one) === "measured").length;
  if (measured === 0) {
    return "no case was measured";
  }
  const all = counted(cases.length, "case", "cases");
  return measured === cases.length ? `${all} measured` : `${measured} of ${all} measured`;
}

export function runEffort({ settings, machine_seconds }: RunReport): string {
  return trials(settings, machine_seconds);
}

export type RunMetric =
  | "instructions_per_op"
  | "cpu_ns_per_op"
  | "ops_per_sec"
  | "latency_p50_us"
  | "latency_p99_us";

export interface Column {
  metric: RunMetric;
  heading: string;
  /** What stands behind the number where there is no heading. */
  unit: string;
}

/** The metrics of the table. */
export const COLUMNS: readonly Column[] = [
  { metric: "instructions_per_op", heading: "instructions/request", unit: "instructions" },
  { metric: "cpu_ns_per_op", heading: "CPU ns/request", unit: "CPU ns" },
  { metric: "ops_per_sec", heading: "requests/s", unit: "requests/s" },
  { metric: "latency_p50_us", heading: "p50, µs", unit: "µs p50" },
  { metric: "latency_p99_us", heading: "p99, µs", unit: "µs p99" },
];

/** The columns that at least one case has a number for. */
export function measuredColumns(cases: RunCase[]): Column[] {
  return COLUMNS.filter(({ metric }) => cases.some((one) => one.metrics[metric] !== undefined));
}

export type RunOrder = "case" | "group" | RunMetric;

/** The cases in an order: names upwards, numbers with the largest first; those without the number are last always. */
export function sortedRun(cases: RunCase[], order: RunOrder, reversed: boolean): RunCase[] {
  const [measured, others] = parted(cases, order);
  const result = measured.sort((one, other) => compare(one, other, order));
  return [...(reversed ? result.reverse() : result), ...others];
}

function parted(cases: RunCase[], order: RunOrder): [RunCase[], RunCase[]] {
  const hasIt = (one: RunCase) => isName(order) || one.metrics[order] !== undefined;
  return [cases.filter(hasIt), cases.filter((one) => !hasIt(one))];
}

function isName(order: RunOrder): order is "case" | "group" {
  return order === "case" || order === "group";
}

function compare(one: RunCase, other: RunCase, order: RunOrder): number {
  return isName(order)
    ? one[order].localeCompare(other[order], "en", { numeric: true })
    : (other.metrics[order] ?? 0) - (one.metrics[order] ?? 0);
}
