import { useMemo } from "preact/hooks";
import {
  ALWAYS_RENDERED,
  CaseFilter,
  CaseRow,
  isNamed,
  OrderChoice,
  ShownCount,
  SortHeader,
  useFilter,
  useOpened,
  useOrder,
  usePrinting,
} from "../cases/CaseList.tsx";
import type { Drawings } from "../cases/documents.ts";
import { OUTCOMES, type Outcome, OutcomeMark } from "../cases/OutcomeMark.tsx";
import { change, count, interval, metricLabel } from "../numbers.ts";
import type { CaseResult, Comparison } from "../records.ts";
import { CaseDetails } from "./CaseDetails.tsx";
import {
  type Answer,
  answerOf,
  failedOn,
  isMissing,
  measuredAnswers,
  type Order,
  outcomeOf,
  sorted,
  unconfirmed,
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

function answerColumns(cases: CaseResult[]): AnswerColumn[] {
  return measuredAnswers(cases).map((answer) => ({
    answer,
    usual: usualMetric(cases, answer),
    scale: scaleOf(cases.flatMap((result) => answerOf(result, answer)?.decided ?? [])),
  }));
}

export function CaseTable({ comparison, drawings }: { comparison: Comparison; drawings: Drawings }) {
  const { cases, reading } = comparison;
  const header = useOrder<Order>("verdict");
  const filter = useFilter<Outcome>();
  const printing = usePrinting();
  const opened = useOpened();
  const words = useMemo(() => cases.flatMap((result) => [...wordsOf(result)]), [cases]);
  const ordered = useMemo(
    () => sorted(cases, reading?.order ?? [], header.order, header.reversed),
    [cases, reading, header.order, header.reversed],
  );
  const columns = useMemo(() => answerColumns(cases), [cases]);
  if (cases.length === 0) {
    return null;
  }
  const orders: Order[] = ["verdict", "case", ...columns.map(({ answer }) => answer)];
  const shown = ordered.filter(
    (result) =>
      (filter.outcome === null || wordsOf(result).has(filter.outcome)) && isNamed(result, filter.text),
  );
  return (
    <section>
      <CaseFilter outcomes={OUTCOMES} ofCases={words} {...filter} />
      <OrderChoice orders={orders.map((order) => [order, order])} order={header.order} sort={header.sort} />
      <table class="cases comparison">
        <caption class="quiet">
          {columns
            .flatMap(({ answer, usual }) => (usual ? [`${answer}: change of ${metricLabel(usual)}`] : []))
            .join("; ")}
        </caption>
        <colgroup>
          <col class="column-name" />
          <col class="column-verdict" />
          {columns.map(({ answer }) => (
            <col key={answer} class={columns.length > 1 ? "column-answer" : "column-only-answer"} />
          ))}
        </colgroup>
        <thead>
          <tr>
            <SortHeader by="case" ascending {...header} />
            <SortHeader by="verdict" ascending {...header} />
            {columns.map(({ answer }) => (
              <SortHeader key={answer} by={answer} {...header} />
            ))}
          </tr>
        </thead>
        {shown.map((result) => (
          <CaseRow
            key={result.case}
            name={result.case}
            opened={opened}
            data={result}
            columns={1 + columns.length}
            openAtFirst={wordsOf(result).has("regression")}
            complete={printing || shown.length <= ALWAYS_RENDERED}
            printing={printing}
            cells={() => <Cells result={result} columns={columns} />}
            details={(withPictures) => (
              <CaseDetails
                result={result}
                statements={reading?.statements[result.case] ?? []}
                drawings={drawings.get(result.case) ?? null}
                withPictures={withPictures}
              />
            )}
          />
        ))}
      </table>
      <ShownCount shown={shown.length} all={cases.length} />
    </section>
  );
}

function Cells({ result, columns }: { result: CaseResult; columns: AnswerColumn[] }) {
  const remark = unconfirmed(result) ?? failedOn(result);
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
  result: CaseResult;
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
