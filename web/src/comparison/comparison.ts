/** How a comparison is read: the outcome of a case, which cases come first, the headline. */

import { counted, trialsText } from "../numbers.ts";
import type { CaseResult, Comparison, Finding, Verdict } from "../records.ts";

/** In the order in which cases are shown. */
export const OUTCOMES = ["regression", "improvement", "unsure", "failed", "invalid", "same"] as const;
export type Outcome = (typeof OUTCOMES)[number];

const PLURALS: Partial<Record<Outcome, string>> = { regression: "regressions", improvement: "improvements" };

const STATES: Record<Comparison["state"], string | null> = {
  done: null,
  running: "Not finished: the comparison is still running or was interrupted. The results so far are shown.",
  interrupted: "Interrupted. The results up to the interruption are shown.",
  failed: "Failed. The results up to the failure are shown.",
};

/** The case's verdict, or `failed` where it was not measured at all. */
export function outcomeOf(result: CaseResult): Outcome {
  return result.verdict === "invalid" && result.failure !== null ? "failed" : result.verdict;
}

export function isChanged(result: CaseResult): boolean {
  return outcomeOf(result) === "regression" || outcomeOf(result) === "improvement";
}

/** The verdict on the metric that decides the case. */
export function decidingVerdict({ verdicts, deciding }: CaseResult): Verdict | undefined {
  return verdicts.find(({ metric }) => metric === deciding);
}

export function headline({ cases }: Comparison): string {
  const parts = OUTCOMES.flatMap((outcome) => {
    const number = cases.filter((result) => outcomeOf(result) === outcome).length;
    return number > 0 ? [counted(number, outcome, PLURALS[outcome] ?? outcome)] : [];
  });
  return parts.join(", ") || "no case was measured";
}

export function effort({ cases, settings, summary }: Comparison): string {
  return `${counted(cases.length, "case", "cases")}, ${trialsText(settings, summary.machine_seconds)}`;
}

export function stateLine(comparison: Comparison): string | null {
  return STATES[comparison.state];
}

export function ranked(result: CaseResult, kind: Finding["kind"]): Finding[] {
  return result.findings
    .filter((finding) => finding.kind === kind)
    .sort((left, right) => left.rank - right.rank);
}

export type Order = "verdict" | "case" | "change" | "q";

/** The cases in an order; `verdict` puts changed ones first, the larger change before the smaller. */
export function sorted(cases: CaseResult[], order: Order, reversed: boolean): CaseResult[] {
  const result = [...cases].sort((left, right) => compare(left, right, order));
  return reversed ? result.reverse() : result;
}

function compare(left: CaseResult, right: CaseResult, order: Order): number {
  switch (order) {
    case "case":
      return left.case.localeCompare(right.case, "en", { numeric: true });
    case "change":
      return size(right) - size(left);
    case "q":
      return (decidingVerdict(left)?.q ?? 2) - (decidingVerdict(right)?.q ?? 2);
    case "verdict": {
      const place = OUTCOMES.indexOf(outcomeOf(left)) - OUTCOMES.indexOf(outcomeOf(right));
      return place !== 0 || !isChanged(left) ? place : size(right) - size(left);
    }
  }
}

function size(result: CaseResult): number {
  const verdict = decidingVerdict(result);
  return verdict === undefined ? -1 : Math.abs(verdict.change ?? Number.MAX_VALUE);
}
