/** How a run is read: the outcome of a case, the headline, the order of cases. */

import { checkValue, count, counted, metricLabel, trialsText } from "../numbers.ts";
import { METRICS, RUN_TABLE, type RunCase, type RunReport } from "../records.ts";

export const RUN_OUTCOMES = ["measured", "failed", "invalid"] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

export function runOutcome({ failure, validity }: RunCase): RunOutcome {
  if (failure !== null) {
    return "failed";
  }
  return validity.valid ? "measured" : "invalid";
}

export function runHeadline({ cases }: RunReport): string {
  const measured = cases.filter((entry) => runOutcome(entry) === "measured").length;
  if (measured === 0) {
    return "no case was measured";
  }
  const all = counted(cases.length, "case", "cases");
  return measured === cases.length ? `${all} measured` : `${measured} of ${all} measured`;
}

/** The outcome of a case in a sentence: its metrics of the table, or the checks that it failed. */
export function runStatement(entry: RunCase): string {
  const outcome = runOutcome(entry);
  const evidence =
    outcome === "measured"
      ? measuredMetrics([entry]).map(
          (metric) => `${metricLabel(metric)} ${count(entry.metrics[metric] ?? null)}`,
        )
      : entry.validity.checks
          .filter(({ ok }) => !ok)
          .map((check) => `${check.check} is ${checkValue(check)}, expected ${check.limit}`);
  return evidence.length === 0 ? outcome : `${outcome}: ${evidence.join(", ")}`;
}

export function runEffort({ settings, machine_seconds }: RunReport): string {
  return trialsText(settings, machine_seconds);
}

/** The metrics of the table that at least one case has a value of; those of plugins come last. */
export function measuredMetrics(cases: RunCase[]): string[] {
  const measured = new Set(cases.flatMap(({ metrics }) => Object.keys(metrics)));
  const ofPlugins = [...measured].filter((metric) => METRICS[metric] === undefined);
  return [...RUN_TABLE.filter((metric) => measured.has(metric)), ...ofPlugins];
}

/** The cases by name, by group or by a metric. */
export type RunOrder = "case" | "group" | (string & {});

/** The cases in an order: names upwards, the largest number first; those without a number are always last. */
export function sortedRun(cases: RunCase[], order: RunOrder, reversed: boolean): RunCase[] {
  const isMeasured = (entry: RunCase) => isName(order) || entry.metrics[order] !== undefined;
  const result = cases.filter(isMeasured).sort((left, right) => compare(left, right, order));
  const others = cases.filter((entry) => !isMeasured(entry));
  return [...(reversed ? result.reverse() : result), ...others];
}

function isName(order: RunOrder): order is "case" | "group" {
  return order === "case" || order === "group";
}

function compare(left: RunCase, right: RunCase, order: RunOrder): number {
  return isName(order)
    ? left[order].localeCompare(right[order], "en", { numeric: true })
    : (right.metrics[order] ?? 0) - (left.metrics[order] ?? 0);
}
