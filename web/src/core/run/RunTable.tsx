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
import { OutcomeMark } from "../cases/OutcomeMark.tsx";
import { count, metricHeading } from "../numbers.ts";
import type { RunCase } from "../records.ts";
import { RunDetails } from "./RunDetails.tsx";
import {
  measuredMetrics,
  RUN_OUTCOMES,
  type RunOrder,
  type RunOutcome,
  runOutcome,
  sortedRun,
} from "./run.ts";

export function RunTable({ cases, drawings }: { cases: RunCase[]; drawings: Drawings }) {
  const header = useOrder<RunOrder>("case");
  const filter = useFilter<RunOutcome>();
  const printing = usePrinting();
  const opened = useOpened();
  const outcomes = useMemo(() => cases.map(runOutcome), [cases]);
  const metrics = useMemo(() => measuredMetrics(cases), [cases]);
  const ordered = useMemo(
    () => sortedRun(cases, header.order, header.reversed),
    [cases, header.order, header.reversed],
  );
  if (cases.length === 0) {
    return null;
  }
  const shown = ordered.filter(
    (entry) =>
      (filter.outcome === null || runOutcome(entry) === filter.outcome) && isNamed(entry, filter.text),
  );
  const orders: [RunOrder, string][] = [
    ["case", "case"],
    ["group", "group"],
    ...metrics.map((metric): [RunOrder, string] => [metric, metricHeading(metric)]),
  ];
  return (
    <section>
      <CaseFilter outcomes={RUN_OUTCOMES} ofCases={outcomes} {...filter} />
      <OrderChoice orders={orders} order={header.order} sort={header.sort} />
      <table class="cases run">
        <colgroup>
          <col class="column-name" />
          <col class="column-group" />
          {metrics.map((metric) => (
            <col key={metric} />
          ))}
        </colgroup>
        <thead>
          <tr>
            <SortHeader by="case" ascending {...header} />
            <SortHeader by="group" ascending {...header} />
            {metrics.map((metric) => (
              <SortHeader
                key={metric}
                by={metric}
                heading={metricHeading(metric)}
                class="number"
                {...header}
              />
            ))}
          </tr>
        </thead>
        {shown.map((entry) => (
          <CaseRow
            key={entry.case}
            name={entry.case}
            opened={opened}
            data={entry}
            columns={1 + metrics.length}
            openAtFirst={cases.length === 1}
            complete={printing || shown.length <= ALWAYS_RENDERED}
            printing={printing}
            mark={<Mark outcome={runOutcome(entry)} />}
            cells={() => <Cells entry={entry} metrics={metrics} />}
            details={(withPictures) => (
              <RunDetails
                entry={entry}
                drawings={drawings.get(entry.case) ?? null}
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

function Mark({ outcome }: { outcome: RunOutcome }) {
  return outcome === "measured" ? null : (
    <>
      {" "}
      <OutcomeMark outcome={outcome} />
    </>
  );
}

/** The group and the figures of a case; empty where a metric was not measured. */
function Cells({ entry, metrics }: { entry: RunCase; metrics: string[] }) {
  return (
    <>
      <td class="quiet">{entry.group}</td>
      {metrics.map((metric) => {
        const value = entry.metrics[metric];
        return (
          <td key={metric} class="number">
            {value !== undefined && (
              <>
                <span class="phone quiet">{metricHeading(metric)} </span>
                {count(value)}
              </>
            )}
          </td>
        );
      })}
    </>
  );
}
