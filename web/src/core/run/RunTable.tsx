import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import {
  ALWAYS_RENDERED,
  CaseFilter,
  CaseRow,
  isNamed,
  type ListControl,
  OrderChoice,
  orderOf,
  Rows,
  ShownCount,
  SortHeader,
  useOpened,
  usePrinting,
} from "../cases/CaseList.tsx";
import { OutcomeMark } from "../cases/OutcomeMark.tsx";
import { count, metricHeading } from "../numbers.ts";
import type { MeasuredCaseRow } from "../records.ts";
import {
  measuredMetrics,
  RUN_OUTCOMES,
  type RunOrder,
  type RunOutcome,
  runOutcome,
  sortedRun,
} from "./run.ts";

interface Properties {
  cases: MeasuredCaseRow[];
  list: ListControl;
  /** The details of an open case. */
  details: (row: MeasuredCaseRow, withPictures: boolean) => ComponentChildren;
}

export function RunTable({ cases, list, details }: Properties) {
  const header = orderOf<RunOrder>(list);
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
  const { text, outcome, group } = list.state;
  const shown = ordered.filter(
    (entry) =>
      (outcome === "" || runOutcome(entry) === outcome) &&
      (group === "" || entry.group === group) &&
      (text === "" || isNamed(entry, text)),
  );
  const groups = [...new Set(cases.map((entry) => entry.group))].sort();
  const orders: [RunOrder, string][] = [
    ["case", "case"],
    ["group", "group"],
    ...metrics.map((metric): [RunOrder, string] => [metric, metricHeading(metric)]),
  ];
  return (
    <section>
      <h2 class="sr">Cases</h2>
      <CaseFilter
        outcomes={RUN_OUTCOMES}
        ofCases={outcomes}
        list={list}
        choices={[{ by: "group", values: groups.map((name) => [name, name] as const) }]}
      />
      <OrderChoice orders={orders} order={header.order} sort={header.sort} />
      <table class="cases run" aria-rowcount={shown.length + 1}>
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
        <Rows
          items={shown}
          all={cases.length}
          columns={1 + metrics.length}
          opened={opened}
          list={list}
          printing={printing}
        >
          {(entry) => (
            <CaseRow
              key={entry.case}
              name={entry.case}
              opened={opened}
              list={list}
              data={entry}
              columns={1 + metrics.length}
              openAtFirst={cases.length === 1}
              complete={printing || shown.length <= ALWAYS_RENDERED}
              printing={printing}
              mark={<Mark outcome={runOutcome(entry)} />}
              cells={() => <Cells entry={entry} metrics={metrics} />}
              details={(withPictures) => details(entry, withPictures)}
            />
          )}
        </Rows>
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
function Cells({ entry, metrics }: { entry: MeasuredCaseRow; metrics: string[] }) {
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
