/** How a run is read: the outcome of a case, the headline, the order of cases. */

import { byName } from "../cases/CaseList.tsx";
import { checkValue, count, counted, metricLabel, trialsText } from "../numbers.ts";
import { METRICS, type MeasuredCaseRow, RUN_TABLE, type RunReport } from "../records.ts";

/** A run as its page shows it: a row a case, whose evidence is read when the case is opened. */
export type ShownRun = Pick<
  RunReport,
  | "id"
  | "created"
  | "command_line"
  | "server"
  | "platform"
  | "settings"
  | "machine_seconds"
  | "notes"
  | "skipped"
> & { cases: MeasuredCaseRow[]; unreadable: Record<string, string> };

export const RUN_OUTCOMES = ["measured", "failed", "invalid"] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

export function runOutcome({ failure, validity }: MeasuredCaseRow): RunOutcome {
  if (failure !== null) {
    return "failed";
  }
  return validity.valid ? "measured" : "invalid";
}

export function runHeadline({ cases }: Pick<ShownRun, "cases">): string {
  const measured = cases.filter((entry) => runOutcome(entry) === "measured").length;
  if (measured === 0) {
    return "no case was measured";
  }
  const all = counted(cases.length, "case", "cases");
  return measured === cases.length ? `${all} measured` : `${measured} of ${all} measured`;
}

/** The outcome of a case in a sentence: its metrics of the table, or the checks that it failed. */
export function runStatement(entry: MeasuredCaseRow): string {
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

export function runEffort({
  settings,
  machine_seconds,
}: Pick<ShownRun, "settings" | "machine_seconds">): string {
  return trialsText(settings, machine_seconds);
}

/** The metrics of the table that at least one case has a value of; those of plugins come last. */
export function measuredMetrics(cases: MeasuredCaseRow[]): string[] {
  const measured = new Set(cases.flatMap(({ metrics }) => Object.keys(metrics)));
  const ofPlugins = [...measured].filter((metric) => METRICS[metric] === undefined);
  return [...RUN_TABLE.filter((metric) => measured.has(metric)), ...ofPlugins];
}

/** The cases by name, by group or by a metric. */
export type RunOrder = "case" | "group" | (string & {});

/** The cases in an order: names upwards, the largest number first; those without a number are always last. */
export function sortedRun(cases: MeasuredCaseRow[], order: RunOrder, reversed: boolean): MeasuredCaseRow[] {
  const isMeasured = (entry: MeasuredCaseRow) => isName(order) || entry.metrics[order] !== undefined;
  const result = cases.filter(isMeasured).sort((left, right) => compare(left, right, order));
  const others = cases.filter((entry) => !isMeasured(entry));
  return [...(reversed ? result.reverse() : result), ...others];
}

function isName(order: RunOrder): order is "case" | "group" {
  return order === "case" || order === "group";
}

function compare(left: MeasuredCaseRow, right: MeasuredCaseRow, order: RunOrder): number {
  return isName(order)
    ? byName(left[order], right[order])
    : (right.metrics[order] ?? 0) - (left.metrics[order] ?? 0);
}
