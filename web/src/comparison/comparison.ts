/** How a comparison is read: the answers of a case, which cases come first, the headline. */

import { counted, trialsText } from "../numbers.ts";
import type { CaseResult, Comparison, Finding, Verdict } from "../records.ts";

/** In the order in which cases are shown. */
export const OUTCOMES = [
  "regression",
  "improvement",
  "unsure",
  "failed",
  "invalid",
  "same",
  "identical",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What the code does, and what its user feels. */
export const ANSWERS = ["work", "time"] as const;
export type Answer = (typeof ANSWERS)[number];

/** The answer on the work or the time of a case, and the verdict that it rests on. */
export interface Answered {
  answer: Answer;
  word: Outcome;
  decided: Verdict | undefined;
}

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

/** The answers on a case's work and time, without one that was not measured. */
export function answersOf(result: CaseResult): Answered[] {
  const { work, work_deciding, time, time_deciding } = result;
  return [
    ...(work === null
      ? []
      : [{ answer: "work" as const, word: work, decided: verdictOn(result, work_deciding) }]),
    ...(time === null
      ? []
      : [{ answer: "time" as const, word: time, decided: verdictOn(result, time_deciding) }]),
  ];
}

export function answerOf(result: CaseResult, wanted: Answer): Answered | undefined {
  return answersOf(result).find(({ answer }) => answer === wanted);
}

function verdictOn({ verdicts }: CaseResult, wanted: string | null): Verdict | undefined {
  return verdicts.find(({ metric }) => metric === wanted);
}

/** The verdict of a case, its work and its time. */
export function wordsOf(result: CaseResult): Set<Outcome> {
  return new Set([outcomeOf(result), ...answersOf(result).map(({ word }) => word)]);
}

/** The answers that any of the cases has. */
export function measuredAnswers(cases: CaseResult[]): Answer[] {
  return ANSWERS.filter((answer) => cases.some((result) => answerOf(result, answer) !== undefined));
}

/** The metric that most cases' work or time rests on. */
export function usualMetric(cases: CaseResult[], answer: Answer): string | undefined {
  const metrics = cases.flatMap((result) => answerOf(result, answer)?.decided?.metric ?? []);
  const count = (metric: string) => metrics.filter((other) => other === metric).length;
  return [...new Set(metrics)].sort((left, right) => count(right) - count(left))[0];
}

export function headline({ cases }: Comparison): string {
  return wordCounts(cases.map(outcomeOf)) || "no case was measured";
}

/** The outcome by answer where there are both: `work: 2 regressions, 10 same`. */
export function answerLines({ cases }: Comparison): string[] {
  const answers = measuredAnswers(cases);
  if (answers.length < ANSWERS.length) {
    return [];
  }
  return answers.map((answer) => {
    const words = cases.flatMap((result) => answerOf(result, answer)?.word ?? []);
    return `${answer}: ${wordCounts(words)}`;
  });
}

function wordCounts(words: Outcome[]): string {
  return OUTCOMES.flatMap((outcome) => {
    const number = words.filter((word) => word === outcome).length;
    return number > 0 ? [counted(number, outcome, PLURALS[outcome] ?? outcome)] : [];
  }).join(", ");
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

export type Order = "verdict" | "case" | Answer;

/** The cases in an order; `verdict` puts those with a change first, the larger change before the smaller. */
export function sorted(cases: CaseResult[], order: Order, reversed: boolean): CaseResult[] {
  const result = [...cases].sort((left, right) => compare(left, right, order));
  return reversed ? result.reverse() : result;
}

function compare(left: CaseResult, right: CaseResult, order: Order): number {
  switch (order) {
    case "case":
      return left.case.localeCompare(right.case, "en", { numeric: true });
    case "work":
    case "time":
      return size(answerOf(right, order)) - size(answerOf(left, order));
    case "verdict":
      return (
        firstPlace(left) - firstPlace(right) || place(left) - place(right) || largest(right) - largest(left)
      );
  }
}

function place(result: CaseResult): number {
  return OUTCOMES.indexOf(outcomeOf(result));
}

function firstPlace(result: CaseResult): number {
  return Math.min(...[...wordsOf(result)].map((word) => OUTCOMES.indexOf(word)));
}

/** The size of the largest change of work or time; 0 of a case that did not change. */
function largest(result: CaseResult): number {
  const changed = answersOf(result).filter(({ word }) => word === "regression" || word === "improvement");
  return Math.max(0, ...changed.map(size));
}

function size(answered: Answered | undefined): number {
  return answered?.decided === undefined ? -1 : Math.abs(answered.decided.change ?? Number.MAX_VALUE);
}
