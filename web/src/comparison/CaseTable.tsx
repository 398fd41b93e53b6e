import { useMemo } from "preact/hooks";
import type { Drawings } from "../embedded.ts";
import { change, count, interval, metricLabel, probability } from "../numbers.ts";
import type { CaseResult } from "../records.ts";
import {
  ALWAYS_RENDERED,
  CaseFilter,
  CaseRow,
  isNamed,
  OrderChoice,
  ShownCount,
  SortHeader,
  useFilter,
  useOrder,
  usePrinting,
} from "../report/CaseList.tsx";
import { OutcomeMark } from "../report/OutcomeMark.tsx";
import { CaseDetails } from "./CaseDetails.tsx";
import {
  decidingVerdict,
  isChanged,
  type Order,
  OUTCOMES,
  type Outcome,
  outcomeOf,
  sorted,
} from "./comparison.ts";
import { IntervalChart, type Scale, scaleOf } from "./IntervalChart.tsx";

const ORDERS = (["verdict", "case", "change", "q"] as const).map((order) => [order, order] as const);
const COLUMNS = ["name", "verdict", "change", "interval", "values", "q"];

export function CaseTable({ cases, drawings }: { cases: CaseResult[]; drawings: Drawings }) {
  const header = useOrder<Order>("verdict");
  const filter = useFilter<Outcome>();
  const printing = usePrinting();
  const outcomes = useMemo(() => cases.map(outcomeOf), [cases]);
  const ordered = useMemo(
    () => sorted(cases, header.order, header.reversed),
    [cases, header.order, header.reversed],
  );
  const verdicts = useMemo(() => cases.flatMap((result) => decidingVerdict(result) ?? []), [cases]);
  const scale = useMemo(() => scaleOf(verdicts), [verdicts]);
  if (cases.length === 0) {
    return null;
  }
  const metrics = new Set(verdicts.map(({ metric }) => metric));
  const shown = ordered.filter(
    (result) =>
      (filter.outcome === null || outcomeOf(result) === filter.outcome) && isNamed(result, filter.text),
  );
  return (
    <section>
      <CaseFilter outcomes={OUTCOMES} ofCases={outcomes} {...filter} />
      <OrderChoice orders={ORDERS} order={header.order} sort={header.sort} />
      <table class="cases comparison">
        {metrics.size === 1 && <caption class="quiet">change of {metricLabel([...metrics].join())}</caption>}
        <colgroup>
          {COLUMNS.map((column) => (
            <col key={column} class={`column-${column}`} />
          ))}
        </colgroup>
        <thead>
          <tr>
            <SortHeader by="case" {...header} />
            <SortHeader by="verdict" {...header} />
            <SortHeader by="change" class="number" {...header} />
            <th scope="col" class="interval">
              interval
            </th>
            <th scope="col" class="number">
              base → head
            </th>
            <SortHeader by="q" class="number" {...header} />
          </tr>
        </thead>
        {shown.map((result) => (
          <CaseRow
            key={result.case}
            name={result.case}
            data={result}
            columns={COLUMNS.length - 1}
            openAtFirst={outcomeOf(result) === "regression"}
            complete={printing || shown.length <= ALWAYS_RENDERED}
            printing={printing}
            cells={() => <Cells result={result} scale={scale} withMetric={metrics.size > 1} />}
            details={(withPictures) => (
              <CaseDetails
                result={result}
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

interface CellsProperties {
  result: CaseResult;
  scale: Scale;
  /** Whether to name the deciding metric in each row. */
  withMetric: boolean;
}

function Cells({ result, scale, withMetric }: CellsProperties) {
  const outcome = outcomeOf(result);
  const verdict = decidingVerdict(result);
  return (
    <>
      <td>
        <OutcomeMark outcome={outcome} />
        {isChanged(result) && !result.confirmed && <span class="quiet small"> counted only</span>}
      </td>
      {verdict === undefined ? (
        <td colSpan={4} />
      ) : (
        <>
          <td class="number strong">{change(verdict.change)}</td>
          <td class="interval">
            <IntervalChart verdict={verdict} scale={scale} outcome={outcome} />
            <span class="quiet number">{interval(verdict.low, verdict.high)}</span>
          </td>
          <td class="number values" title={metricLabel(verdict.metric)}>
            {count(verdict.base)} → {count(verdict.head)}
            {withMetric && <div class="quiet small">{metricLabel(verdict.metric)}</div>}
          </td>
          <td class="number q">
            <span class="phone">q </span>
            {probability(verdict.q)}
          </td>
        </>
      )}
    </>
  );
}
