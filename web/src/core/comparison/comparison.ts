/** How a comparison is read: the answers of a case, and the order of cases. Its words are in the document. */

import { byName } from "../cases/CaseList.tsx";
import type { Outcome } from "../cases/OutcomeMark.tsx";
import type { CaseResult, ComparedCaseRow, Comparison, Finding, Verdict } from "../records.ts";

/** A comparison as its page shows it: a row a case, whose evidence is read when the case is opened. */
export type ShownComparison = Pick<
  Comparison,
  | "id"
  | "created"
  | "command_line"
  | "base"
  | "head"
  | "platform"
  | "settings"
  | "notes"
  | "skipped"
  | "reading"
> & {
  cases: ComparedCaseRow[];
  /** How much each case counts by the priority that its suite gives it; empty where it gives none. */
  weights: Record<string, number>;
  /** The cases that cannot be read, with the reason. */
  unreadable: Record<string, string>;
};

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
export function outcomeOf(result: ComparedCaseRow): Outcome {
  return result.verdict === "invalid" && result.failure !== null ? "failed" : result.verdict;
}

/** The answers on a case's work and time, without one that was not measured. */
export function answersOf(result: ComparedCaseRow): Answered[] {
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

export function answerOf(result: ComparedCaseRow, wanted: Answer): Answered | undefined {
  return answersOf(result).find(({ answer }) => answer === wanted);
}

function verdictOn({ verdicts }: ComparedCaseRow, wanted: string | null): Verdict | undefined {
  return verdicts.find(({ metric }) => metric === wanted);
}

/** The verdict of a case, its work and its time; of identical code a sample that decides nothing has no word. */
export function wordsOf(result: ComparedCaseRow): Set<Outcome> {
  const words = answersOf(result).map(({ word }) => word);
  const isIdentical = result.work === "identical";
  return new Set([outcomeOf(result), ...words.filter((word) => !(isIdentical && word === "unsure"))]);
}

/** Whether a case that was measured has no answer on its work or time, though it could differ. */
export function isMissing(result: ComparedCaseRow, answer: Answer): boolean {
  return (
    result.verdict !== "invalid" && result.work !== "identical" && answerOf(result, answer) === undefined
  );
}

/** Whether a case is for the worse or for the better. */
export function hasChanged({ verdict }: ComparedCaseRow): boolean {
  return verdict === "regression" || verdict === "improvement";
}

/** The sides that make a case invalid; undefined where no side does. */
export function failedOn({ failed_sides }: Pick<ComparedCaseRow, "failed_sides">): string | undefined {
  const [first, ...others] = failed_sides;
  if (first === undefined) {
    return undefined;
  }
  return others.length === 0 ? `on the ${first} only` : "on both sides";
}

/** The answers that any of the cases has. */
export function measuredAnswers(cases: ComparedCaseRow[]): Answer[] {
  return ANSWERS.filter((answer) => cases.some((result) => answerOf(result, answer) !== undefined));
}

/** The metric that most cases' work or time rests on. */
export function usualMetric(cases: ComparedCaseRow[], answer: Answer): string | undefined {
  const counts = new Map<string, number>();
  for (const result of cases) {
    const metric = answerOf(result, answer)?.decided?.metric;
    if (metric !== undefined) {
      counts.set(metric, (counts.get(metric) ?? 0) + 1);
    }
  }
  return [...counts].sort((left, right) => right[1] - left[1])[0]?.[0];
}

/** The verdicts that the work and the time of a case rest on. */
export function decidingVerdicts(result: ComparedCaseRow): Verdict[] {
  return answersOf(result).flatMap(({ decided }) => decided ?? []);
}

export function ranked(result: CaseResult, kind: Finding["kind"]): Finding[] {
  return result.findings
    .filter((finding) => finding.kind === kind)
    .sort((left, right) => left.rank - right.rank);
}

export type Order = "verdict" | "case" | Answer;

/** The cases in an order; `verdict` is that of the document's reading: those with a change first. */
export function sorted<Row extends ComparedCaseRow>(
  cases: Row[],
  reading: string[],
  order: Order,
  reversed: boolean,
): Row[] {
  const places = new Map(reading.map((name, place) => [name, place]));
  const keyed = cases.map((result) => ({
    result,
    key:
      order === "case"
        ? 0
        : order === "verdict"
          ? (places.get(result.case) ?? places.size)
          : -sizeOf(result, order),
  }));
  keyed.sort((left, right) =>
    order === "case" ? byName(left.result.case, right.result.case) : left.key - right.key,
  );
  const result = keyed.map((entry) => entry.result);
  return reversed ? result.reverse() : result;
}

function sizeOf(result: ComparedCaseRow, answer: Answer): number {
  const decided = answerOf(result, answer)?.decided;
  return decided === undefined ? -1 : Math.abs(decided.change ?? Number.MAX_VALUE);
}
