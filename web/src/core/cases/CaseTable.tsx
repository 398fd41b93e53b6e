/** The list of cases of a comparison or a run: filtered, sorted by any column; which of them are open at first. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { IntervalChart, type Scale, scaleOf } from "../charts/IntervalChart.tsx";
import { metricLabel } from "../numbers.ts";
import type { CaseList, Cell, Column, ListedCase } from "../records.ts";
import { isOutcome, Marked } from "../Sheet.tsx";
import {
  ALWAYS_RENDERED,
  byName,
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
} from "./CaseList.tsx";
import { OUTCOMES, OutcomeMark } from "./OutcomeMark.tsx";

export interface TableRow extends ListedCase {
  cells: Cell[];
}

interface Properties {
  of: CaseList;
  list: ListControl;
  /** The details of an open case. */
  details: (name: string, withPictures: boolean) => ComponentChildren;
}

/** What cases can be chosen by, beside their outcome and a text. */
const CHOICES = ["group", "metric", "engine"] as const;

export function CaseTable({ of: { cases, sheet }, list, details }: Properties) {
  const table = sheet.sections.find(({ key }) => key === "cases")?.tables[0];
  const { columns = [], rows: cells = [] } = table ?? {};
  const { order, reversed, sort } = orderOf(list);
  const all = useMemo(() => cases.map((of, place) => ({ ...of, cells: cells[place] ?? [] })), [cases, cells]);
  const place = columns.findIndex(({ key }) => key === order);
  const ordered = useMemo(() => sortedRows(all, place, reversed), [all, place, reversed]);
  const scales = useMemo(
    () => columns.map((_, column) => scaleOf(cells.map((row) => row[column]))),
    [columns, cells],
  );
  const printing = usePrinting();
  const opened = useOpened();
  if (all.length === 0) {
    return null;
  }
  const rows = ordered.filter((row) => isChosen(row, list.state));
  const worthOpening = sheet.kind === "run" ? all : all.filter(hasChanged);
  const onlyOne = worthOpening.length === 1 ? worthOpening[0] : null;
  const others = columns.slice(1);
  const caption = columns
    .flatMap(({ heading, detail }) => (detail ? [`${heading}: change of ${detail}`] : []))
    .join("; ");
  return (
    <>
      <h2 class="sr">Cases</h2>
      <CaseFilter
        outcomes={["measured", ...OUTCOMES]}
        ofCases={cases.flatMap(({ outcomes }) => outcomes)}
        list={list}
        choices={CHOICES.map((by) => ({ by, values: choicesOf(cases, by) }))}
      />
      <OrderChoice orders={columns.map(({ key, heading }) => [key, heading])} order={order} sort={sort} />
      <table class={`cases ${sheet.kind}`} aria-rowcount={rows.length + 1}>
        {caption !== "" && <caption class="quiet">{caption}</caption>}
        <colgroup>
          {columns.map(({ key }) => (
            <col key={key} class={`column-${key}`} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {columns.map(({ key, heading, is_number }, column) => (
              <SortHeader
                key={key}
                by={key}
                heading={heading}
                ascending={isSortedByText(all, column)}
                class={is_number ? "number" : ""}
                {...{ order, reversed, sort }}
              />
            ))}
          </tr>
        </thead>
        <Rows
          items={rows}
          all={all.length}
          columns={others.length}
          opened={opened}
          list={list}
          printing={printing}
        >
          {(row) => (
            <CaseRow
              key={row.case}
              name={row.case}
              opened={opened}
              list={list}
              data={row}
              columns={others.length}
              openAtFirst={row === onlyOne}
              complete={printing || rows.length <= ALWAYS_RENDERED}
              printing={printing}
              cells={() =>
                others.map((column, place) => (
                  <CaseCell
                    key={column.key}
                    cell={row.cells[place + 1]}
                    column={column}
                    scale={scales[place + 1]}
                    isFirst={place === 0}
                  />
                ))
              }
              details={(withPictures) => details(row.case, withPictures)}
            />
          )}
        </Rows>
      </table>
      <ShownCount shown={rows.length} all={all.length} />
    </>
  );
}

/** Whether a case is for the worse or for the better: that is its first outcome. */
function hasChanged({ outcomes: [first] }: ListedCase): boolean {
  return first === "regression" || first === "improvement";
}

function isChosen(row: TableRow, { text, outcome, group, metric, engine }: ListControl["state"]): boolean {
  return (
    (text === "" || isNamed(row, text)) &&
    (outcome === "" || row.outcomes.includes(outcome)) &&
    (group === "" || row.group === group) &&
    (metric === "" || row.metrics.includes(metric)) &&
    (engine === "" || row.engines.includes(engine))
  );
}

function choicesOf(cases: readonly ListedCase[], by: (typeof CHOICES)[number]): [string, string][] {
  const values = {
    group: (of: ListedCase) => [of.group],
    metric: (of: ListedCase) => of.metrics,
    engine: (of: ListedCase) => of.engines,
  };
  const names = [...new Set(cases.flatMap(values[by]))].sort();
  return names.map((name) => [name, by === "metric" ? metricLabel(name) : name]);
}

/** Whether no cell of a column has anything but its text to be sorted by. */
function isSortedByText(rows: readonly TableRow[], column: number): boolean {
  return rows.every(({ cells }) => cells[column]?.order == null);
}

/** The rows by a column: names upwards, the largest number first; rows without a number are always last. */
export function sortedRows(rows: TableRow[], column: number, reversed: boolean): TableRow[] {
  const of = (row: TableRow) => row.cells[column];
  const isByText = isSortedByText(rows, column);
  const known = rows.filter((row) => isByText || of(row)?.order != null);
  known.sort((left, right) =>
    isByText
      ? byName(of(left)?.text ?? "", of(right)?.text ?? "")
      : (of(right)?.order ?? 0) - (of(left)?.order ?? 0),
  );
  const others = rows.filter((row) => !known.includes(row));
  return [...(reversed ? known.reverse() : known), ...others];
}

interface CellProperties {
  cell: Cell | undefined;
  column: Column;
  scale: Scale | undefined;
  /** Whether it stands beside the name, and needs no heading where there is no room for columns. */
  isFirst: boolean;
}

/** A cell of a case; a change with its word, its interval and the values of both sides. */
function CaseCell({ cell, column: { heading, is_number }, scale, isFirst }: CellProperties) {
  if (cell === undefined || cell.text === "") {
    return <td />;
  }
  const { text, detail, mark, drawn } = cell;
  const onPhone = !isFirst && <span class="phone quiet">{heading} </span>;
  if (drawn === null || scale === undefined || !isOutcome(mark)) {
    return (
      <td class={is_number ? "number" : ""}>
        {onPhone}
        <Marked {...cell} />
        {detail !== "" && <span class="quiet small"> {detail}</span>}
      </td>
    );
  }
  return (
    <td class="answer">
      <div>
        {onPhone}
        <OutcomeMark outcome={mark} />
        <span class="number strong">{text}</span>
        <span class="quiet number">{detail}</span>
        <IntervalChart drawn={drawn} scale={scale} text={`${text} ${detail}`} mark={mark} />
        <span class="quiet small values">{drawn.values}</span>
      </div>
    </td>
  );
}
