/** How a comparison is read: the answers of a case, and the order of cases. Its words are in the document. */

import type { Outcome } from "../cases/OutcomeMark.tsx";
import type { CaseResult, Finding, Verdict } from "../records.ts";

/** What the code does, and what its user feels. */
export const ANSWERS = ["work", "time"] as const;
export type Answer = (typeof ANSWERS)[number];

/** The answer on the work or the time of a case, and the verdict that it rests on. */
export interface Answered {
  answer: Answer;
  word: Outcome;
  decided: Verdict | undefined;
}

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

/** The verdict of a case, its work and its time; of identical code a sample that decides nothing has no word. */
export function wordsOf(result: CaseResult): Set<Outcome> {
  const words = answersOf(result).map(({ word }) => word);
  const isIdentical = result.work === "identical";
  return new Set([outcomeOf(result), ...words.filter((word) => !(isIdentical && word === "unsure"))]);
}

/** Whether a case that was measured has no answer on its work or time, though it could differ. */
export function isMissing(result: CaseResult, answer: Answer): boolean {
  return (
    result.verdict !== "invalid" && result.work !== "identical" && answerOf(result, answer) === undefined
  );
}

/** What a change that is not confirmed rests on: work alone, or time in one layout of each side. */
export function unconfirmed(result: CaseResult): string | undefined {
  if (result.confirmed || !isChange(result.verdict)) {
    return undefined;
  }
  return isChange(result.time) ? "one layout" : "counted only";
}

function isChange(word: Outcome | null): boolean {
  return word === "regression" || word === "improvement";
}

/** The sides that make a case invalid; undefined where no side does. */
export function failedOn({ failed_sides }: CaseResult): string | undefined {
  const [first, ...others] = failed_sides;
  if (first === undefined) {
    return undefined;
  }
  return others.length === 0 ? `on the ${first} only` : "on both sides";
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

export function ranked(result: CaseResult, kind: Finding["kind"]): Finding[] {
  return result.findings
    .filter((finding) => finding.kind === kind)
    .sort((left, right) => left.rank - right.rank);
}

export type Order = "verdict" | "case" | Answer;

/** The cases in an order; `verdict` is that of the document's reading: those with a change first. */
export function sorted(
  cases: CaseResult[],
  reading: string[],
  order: Order,
  reversed: boolean,
): CaseResult[] {
  const places = new Map(reading.map((name, place) => [name, place]));
  const place = ({ case: name }: CaseResult) => places.get(name) ?? places.size;
  const result = [...cases].sort((left, right) => {
    switch (order) {
      case "case":
        return left.case.localeCompare(right.case, "en", { numeric: true });
      case "verdict":
        return place(left) - place(right);
      default:
        return size(answerOf(right, order)) - size(answerOf(left, order));
    }
  });
  return reversed ? result.reverse() : result;
}

function size(answered: Answered | undefined): number {
  return answered?.decided === undefined ? -1 : Math.abs(answered.decided.change ?? Number.MAX_VALUE);
}
