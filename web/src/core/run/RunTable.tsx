import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { CaseFilter, isNamed, type ListControl, orderOf } from "../cases/CaseList.tsx";
import { OutcomeMark } from "../cases/OutcomeMark.tsx";
import { SortedCases, type SortedColumn } from "../cases/SortedCases.tsx";
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
  const columns: SortedColumn<RunOrder>[] = [
    { by: "case", ascending: true, columnClass: "column-name" },
    { by: "group", ascending: true, columnClass: "column-group" },
    ...metrics.map((metric) => ({ by: metric, heading: metricHeading(metric), headClass: "number" })),
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
      <SortedCases
        rows={shown}
        all={cases.length}
        columns={columns}
        list={list}
        kind="run"
        openAtFirst={() => cases.length === 1}
        mark={(entry) => <Mark outcome={runOutcome(entry)} />}
        cells={(entry) => <Cells entry={entry} metrics={metrics} />}
        details={details}
      />
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
