import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { CaseFilter, isNamed, type ListControl, orderOf } from "../cases/CaseList.tsx";
import { OUTCOMES, OutcomeMark } from "../cases/OutcomeMark.tsx";
import { SortedCases, type SortedColumn } from "../cases/SortedCases.tsx";
import { change, count, interval, metricLabel } from "../numbers.ts";
import type { ComparedCaseRow } from "../records.ts";
import { Word } from "../Word.tsx";
import {
  type Answer,
  answerOf,
  decidingVerdicts,
  hasChanged,
  isMissing,
  measuredAnswers,
  type Order,
  outcomeOf,
  type ShownComparison,
  sorted,
  usualMetric,
  wordsOf,
} from "./comparison.ts";
import { IntervalChart, type Scale, scaleOf } from "./IntervalChart.tsx";

/** A column of the table: work or time of all cases, and what its cells have in common. */
interface AnswerColumn {
  answer: Answer;
  usual: string | undefined;
  scale: Scale;
}

function answerColumns(cases: ComparedCaseRow[]): AnswerColumn[] {
  return measuredAnswers(cases).map((answer) => ({
    answer,
    usual: usualMetric(cases, answer),
    scale: scaleOf(cases.flatMap((result) => answerOf(result, answer)?.decided ?? [])),
  }));
}

interface Properties {
  comparison: ShownComparison;
  list: ListControl;
  /** The details of an open case. */
  details: (row: ComparedCaseRow, withPictures: boolean) => ComponentChildren;
}

export function CaseTable({ comparison, list, details }: Properties) {
  const { cases, reading } = comparison;
  const header = orderOf<Order>(list);
  const words = useMemo(() => cases.flatMap((result) => [...wordsOf(result)]), [cases]);
  const ordered = useMemo(
    () => sorted(cases, reading?.order ?? [], header.order, header.reversed),
    [cases, reading, header.order, header.reversed],
  );
  const columns = useMemo(() => answerColumns(cases), [cases]);
  const choices = useMemo(() => choicesOf(cases), [cases]);
  const changed = useMemo(() => cases.filter(hasChanged), [cases]);
  if (cases.length === 0) {
    return null;
  }
  return (
    <section>
      <h2 class="sr">Cases</h2>
      <CaseFilter outcomes={OUTCOMES} ofCases={words} list={list} choices={choices} />
      <SortedCases
        rows={filtered(ordered, list)}
        all={cases.length}
        columns={sortedColumns(columns)}
        list={list}
        kind="comparison"
        caption={columns
          .flatMap(({ answer, usual }) => (usual ? [`${answer}: change of ${metricLabel(usual)}`] : []))
          .join("; ")}
        openAtFirst={(result) => changed.length === 1 && hasChanged(result)}
        cells={(result) => <Cells result={result} columns={columns} remark={reading?.remarks[result.case]} />}
        details={details}
      />
      <p class="quiet small">
        <Word of="work" /> is what the code does, <Word of="time" /> what its users feel. The line of a change
        is its <Word of="interval" />, the grey band are changes smaller than the <Word of="minimum effect" />
        . <Word of="same" />, <Word of="identical" />, <Word of="unsure" />, <Word of="confirmed" />: click a
        word for its meaning.
      </p>
    </section>
  );
}

function sortedColumns(columns: AnswerColumn[]): SortedColumn<Order>[] {
  const columnClass = columns.length > 1 ? "column-answer" : "column-only-answer";
  return [
    { by: "case", ascending: true, columnClass: "column-name" },
    { by: "verdict", ascending: true, columnClass: "column-verdict" },
    ...columns.map(({ answer }) => ({ by: answer, columnClass })),
  ];
}

function choicesOf(cases: ComparedCaseRow[]) {
  const groups = new Set(cases.map(({ group }) => group));
  const deciding = cases.flatMap(decidingVerdicts);
  const metrics = new Set(deciding.map(({ metric }) => metric));
  const engines = new Set(deciding.map(({ engine }) => engine));
  const values = (names: Set<string>, label = (name: string) => name) =>
    [...names].sort().map((name) => [name, label(name)] as const);
  return [
    { by: "group" as const, values: values(groups) },
    { by: "metric" as const, values: values(metrics, metricLabel) },
    { by: "engine" as const, values: values(engines) },
  ];
}

function filtered(cases: ComparedCaseRow[], list: ListControl): ComparedCaseRow[] {
  const { text, outcome, group, metric, engine } = list.state;
  return cases.filter(
    (result) =>
      (text === "" || isNamed(result, text)) &&
      (group === "" || result.group === group) &&
      (outcome === "" || [...wordsOf(result)].some((word) => word === outcome)) &&
      (metric === "" || decidingVerdicts(result).some((verdict) => verdict.metric === metric)) &&
      (engine === "" || decidingVerdicts(result).some((verdict) => verdict.engine === engine)),
  );
}

function Cells({
  result,
  columns,
  remark,
}: {
  result: ComparedCaseRow;
  columns: AnswerColumn[];
  remark: string | undefined;
}) {
  return (
    <>
      <td>
        <OutcomeMark outcome={outcomeOf(result)} />
        {remark !== undefined && <span class="quiet small"> {remark}</span>}
      </td>
      {columns.map((column) => (
        <AnswerCell key={column.answer} result={result} column={column} />
      ))}
    </>
  );
}

/** The work or the time of a case: its word, the change with its interval, the values of both sides. */
function AnswerCell({
  result,
  column: { answer, usual, scale },
}: {
  result: ComparedCaseRow;
  column: AnswerColumn;
}) {
  const answered = answerOf(result, answer);
  if (answered === undefined) {
    return isMissing(result, answer) ? <NotMeasured answer={answer} /> : <td />;
  }
  const { word, decided } = answered;
  return (
    <td class="answer">
      <div>
        <span class="phone quiet">{answer} </span>
        <OutcomeMark outcome={word} />
        {decided === undefined && <span class="quiet small">no metric decides it</span>}
        {decided !== undefined && word !== "identical" && (
          <>
            <span class="number strong">{change(decided.change)}</span>
            <span class="quiet number">{interval(decided.low, decided.high)}</span>
            <IntervalChart verdict={decided} scale={scale} outcome={word} />
          </>
        )}
        {decided !== undefined && (
          <span class="quiet small values" title={metricLabel(decided.metric)}>
            {decided.metric !== usual && `${metricLabel(decided.metric)} `}
            {count(decided.base)} → {count(decided.head)}
          </span>
        )}
      </div>
    </td>
  );
}

function NotMeasured({ answer }: { answer: Answer }) {
  return (
    <td class="answer">
      <div>
        <span class="phone quiet">{answer} </span>
        <span class="quiet">not measured</span>
      </div>
    </td>
  );
}
