import { useMemo } from "preact/hooks";
import type { ListControl } from "../cases/CaseList.tsx";
import { OUTCOMES, type Outcome, OutcomeMark } from "../cases/OutcomeMark.tsx";
import { change, metricLabel } from "../numbers.ts";
import type { ComparedCaseRow } from "../records.ts";
import {
  type Answer,
  answerOf,
  measuredAnswers,
  outcomeOf,
  type ShownComparison,
  usualMetric,
} from "./comparison.ts";

interface GroupRow {
  group: string;
  cases: number;
  outcomes: [Outcome, number][];
  means: { answer: Answer; mean: number | null; measured: number }[];
}

/** What the cases of each group, and all together, have gained or lost. */
export function GroupSummary({ comparison, list }: { comparison: ShownComparison; list: ListControl }) {
  const { cases, weights } = comparison;
  const answers = useMemo(() => measuredAnswers(cases), [cases]);
  const rows = useMemo(() => groupRows(cases, weights, answers), [cases, weights, answers]);
  const isWeighed = Object.keys(weights).length > 0;
  if (rows.length < 2 || answers.length === 0) {
    return null;
  }
  return (
    <details class="groups">
      <summary>By group of commands</summary>
      <div class="wide">
        <table>
          <caption class="quiet">
            Means of the changes of{" "}
            {answers
              .map((answer) => `${metricLabel(usualMetric(cases, answer) ?? "")} (${answer})`)
              .join(" and ")}
            {isWeighed
              ? ": a case counts by the priority that its suite gives its command"
              : ": each case counts the same"}
            . A group shows its cases in the list below.
          </caption>
          <thead>
            <tr>
              <th scope="col">group</th>
              <th scope="col" class="number">
                cases
              </th>
              <th scope="col">verdicts, in cases</th>
              {answers.map((answer) => (
                <th key={answer} scope="col" class="number">
                  {answer}, mean change
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Group key={row.group} row={row} list={list} />
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function Group({ row: { group, cases, outcomes, means }, list }: { row: GroupRow; list: ListControl }) {
  return (
    <tr>
      <th scope="row">
        <button
          type="button"
          class="plain link-like"
          aria-pressed={list.state.group === group}
          onClick={() => list.change({ group: list.state.group === group ? "" : group })}
        >
          {group === "" ? "all" : group}
        </button>
      </th>
      <td class="number">{cases.toLocaleString("en-US")}</td>
      <td class="outcomes">
        {outcomes.map(([outcome, number]) => (
          <span key={outcome}>
            <OutcomeMark outcome={outcome} cases={number} />
          </span>
        ))}
      </td>
      {means.map(({ answer, mean, measured }) => (
        <td key={answer} class="number" title={`over ${measured} cases`}>
          {change(mean)}
        </td>
      ))}
    </tr>
  );
}

/** A row for all cases, which has no group, and one for each group. */
export function groupRows(
  cases: ComparedCaseRow[],
  weights: Record<string, number>,
  answers: Answer[],
): GroupRow[] {
  const byGroup = new Map<string, ComparedCaseRow[]>();
  for (const result of cases) {
    const others = byGroup.get(result.group) ?? [];
    others.push(result);
    byGroup.set(result.group, others);
  }
  const named = [...byGroup].sort(([left], [right]) => (left < right ? -1 : 1));
  const usual = answers.map((answer) => usualMetric(cases, answer));
  return [["", cases] as const, ...(named.length > 1 ? named : [])].map(([group, results]) => ({
    group,
    cases: results.length,
    outcomes: OUTCOMES.flatMap((outcome): [Outcome, number][] => {
      const number = results.filter((result) => outcomeOf(result) === outcome).length;
      return number === 0 ? [] : [[outcome, number]];
    }),
    means: answers.map((answer, place) => ({ answer, ...meanOf(results, weights, answer, usual[place]) })),
  }));
}

/** The weighted geometric mean of changes of a metric; null without any. Identical code has not changed. */
function meanOf(
  results: ComparedCaseRow[],
  weights: Record<string, number>,
  answer: Answer,
  metric: string | undefined,
): { mean: number | null; measured: number } {
  let [sum, total, measured] = [0, 0, 0];
  for (const result of results) {
    const answered = answerOf(result, answer);
    const decided = answered?.decided;
    const isIdentical = answered?.word === "identical";
    const fraction = isIdentical ? 0 : decided?.metric === metric ? decided?.change : null;
    if (fraction !== null && fraction !== undefined && fraction > -1) {
      const weight = weights[result.case] ?? 1;
      sum += weight * Math.log1p(fraction);
      total += weight;
      measured += 1;
    }
  }
  return { mean: total === 0 ? null : Math.expm1(sum / total), measured };
}
