/** How a comparison is read: what decides a case, what comes first, the headline. */

import type { CaseResult, Comparison, Finding, MetricVerdict, Settings } from "./document.ts";
import { counted, duration } from "./numbers.ts";

export const WORDS = ["regression", "improvement", "unsure", "failed", "invalid", "same"] as const;
export type Word = (typeof WORDS)[number];

export const SIGNS: Record<Word, string> = {
  regression: "!",
  improvement: "+",
  unsure: "?",
  failed: "×",
  invalid: "×",
  same: "=",
};

const PLURALS: Partial<Record<Word, string>> = { regression: "regressions", improvement: "improvements" };

const STATES: Record<Comparison["state"], string | null> = {
  done: null,
  running: "Not finished: interrupted, or still going on. This is what was recorded.",
  interrupted: "Interrupted. This is what was recorded until then.",
  failed: "Failed. This is what was recorded until then.",
};

export function word(result: CaseResult): Word {
  return result.verdict === "invalid" && result.failure !== null ? "failed" : result.verdict;
}

export function isChanged(result: CaseResult): boolean {
  return word(result) === "regression" || word(result) === "improvement";
}

const COUNTED_DECIDING = ["instructions_per_op", "syscalls_per_op", "allocations_per_op"];
const TIMED_DECIDING = "cpu_ns_per_op";

/**
 * The verdict that made the case's: the timed one on CPU where it is sure, or on throughput where that alone changed
 * beyond doubt; else the first counted one that is not the same.
 */
export function deciding(result: CaseResult): MetricVerdict | undefined {
  const timed = result.verdicts.find((verdict) => verdict.metric === TIMED_DECIDING);
  if (timed !== undefined && timed.verdict !== "unsure") {
    return timed.verdict === "same" ? (servedChange(result) ?? timed) : timed;
  }
  const ordered = COUNTED_DECIDING.flatMap((metric) =>
    result.verdicts.filter((verdict) => verdict.metric === metric),
  );
  return ordered.find((verdict) => verdict.verdict !== "same") ?? ordered[0] ?? timed;
}

function servedChange(result: CaseResult): MetricVerdict | undefined {
  return result.verdicts.find(
    ({ metric, verdict, low, high, min_effect }) =>
      metric === "ops_per_sec" &&
      (verdict === "regression" || verdict === "improvement") &&
      ((low ?? 0) > min_effect || (high ?? 0) < -min_effect),
  );
}

const LABELS: Record<string, string> = {
  instructions_per_op: "instructions per request",
  allocations_per_op: "allocations per request",
  syscalls_per_op: "system calls per request",
  cpu_ns_per_op: "CPU ns per request",
  main_thread_ns_per_op: "CPU ns per request of the main thread",
  io_threads_ns_per_op: "CPU ns per request of the I/O threads",
  usec_per_call: "us per call, by the server",
  ops_per_sec: "requests per second",
  latency_p50_us: "latency p50 in us",
  latency_p99_us: "latency p99 in us",
  latency_p99_9_us: "latency p99.9 in us",
  latency_max_us: "latency maximum in us",
};

/** As the other reports call the metric. */
export function metricLabel(name: string): string {
  return LABELS[name] ?? name.replaceAll("_", " ");
}

export function headline(comparison: Comparison): string {
  const parts = WORDS.flatMap((one) => {
    const number = comparison.cases.filter((result) => word(result) === one).length;
    return number > 0 ? [counted(number, one, PLURALS[one] ?? one)] : [];
  });
  return parts.join(", ") || "no case was measured";
}

export function effort(comparison: Comparison): string {
  const cases = counted(comparison.cases.length, "case", "cases");
  return `${cases}, ${trials(comparison.settings, comparison.summary.machine_seconds)}`;
}

/** What trials there were. */
export function trials({ engines, quick }: Settings, seconds: number): string {
  return [engines.join(" and "), ...(quick ? ["quick"] : []), `${duration(seconds)} of trials`].join(", ");
}

/** Whether a case has to do with what is searched for, by a part of its name, group or one of its commands. */
export function isNamed(one: { case: string; group: string; commands: string[] }, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return [one.case, one.group, ...one.commands].some((name) => name.toLowerCase().includes(wanted));
}

export function stateLine(comparison: Comparison): string | null {
  return STATES[comparison.state];
}

export function ranked(result: CaseResult, kind: Finding["kind"]): Finding[] {
  return result.findings
    .filter((finding) => finding.kind === kind)
    .sort((one, other) => one.rank - other.rank);
}

export type Order = "verdict" | "case" | "change" | "q";

/** The cases in an order; `verdict` puts changed ones first, the larger change before the smaller. */
export function sorted(cases: CaseResult[], order: Order, reversed: boolean): CaseResult[] {
  const result = [...cases].sort((one, other) => compare(one, other, order));
  return reversed ? result.reverse() : result;
}

function compare(one: CaseResult, other: CaseResult, order: Order): number {
  switch (order) {
    case "case":
      return one.case.localeCompare(other.case, "en", { numeric: true });
    case "change":
      return size(other) - size(one);
    case "q":
      return (deciding(one)?.q ?? 2) - (deciding(other)?.q ?? 2);
    case "verdict": {
      const place = WORDS.indexOf(word(one)) - WORDS.indexOf(word(other));
      return place !== 0 || !isChanged(one) ? place : size(other) - size(one);
    }
  }
}

function size(result: CaseResult): number {
  const verdict = deciding(result);
  return verdict === undefined ? -1 : Math.abs(verdict.change ?? Number.MAX_VALUE);
}
