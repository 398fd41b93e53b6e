/** A table of cases that is sorted by its columns, and whose rows open. */

import type { ComponentChildren } from "preact";
import {
  ALWAYS_RENDERED,
  CaseRow,
  type ListControl,
  type Named,
  OrderChoice,
  orderOf,
  Rows,
  ShownCount,
  SortHeader,
  useOpened,
  usePrinting,
} from "./CaseList.tsx";

/** A column that the table is sorted by; the first one has the names of cases. */
export interface SortedColumn<By extends string> {
  by: By;
  heading?: string;
  /** Whether the first order is the ascending one, as that of words. */
  ascending?: boolean;
  /** The class of the heading, and that of the column. */
  headClass?: string;
  columnClass?: string;
}

interface Properties<Row extends Named, By extends string> {
  /** The rows that are shown, in order, of `all` cases. */
  rows: Row[];
  all: number;
  columns: readonly SortedColumn<By>[];
  list: ListControl;
  /** The class of the table. */
  kind: string;
  caption?: ComponentChildren;
  openAtFirst: (row: Row) => boolean;
  /** What is shown after the name of a case. */
  mark?: (row: Row) => ComponentChildren;
  /** The cells of all columns but the first. */
  cells: (row: Row) => ComponentChildren;
  /** The details of an open case. */
  details: (row: Row, withPictures: boolean) => ComponentChildren;
}

export function SortedCases<Row extends Named, By extends string>(properties: Properties<Row, By>) {
  const { rows, all, columns, list, kind, caption, openAtFirst, mark, cells, details } = properties;
  const header = orderOf<By>(list);
  const printing = usePrinting();
  const opened = useOpened();
  const besideName = columns.length - 1;
  return (
    <>
      <OrderChoice
        orders={columns.map(({ by, heading = by }) => [by, heading])}
        order={header.order}
        sort={header.sort}
      />
      <table class={`cases ${kind}`} aria-rowcount={rows.length + 1}>
        {caption !== undefined && <caption class="quiet">{caption}</caption>}
        <colgroup>
          {columns.map(({ by, columnClass }) => (
            <col key={by} class={columnClass} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {columns.map(({ by, heading = by, ascending = false, headClass = "" }) => (
              <SortHeader
                key={by}
                by={by}
                heading={heading}
                ascending={ascending}
                class={headClass}
                {...header}
              />
            ))}
          </tr>
        </thead>
        <Rows items={rows} all={all} columns={besideName} opened={opened} list={list} printing={printing}>
          {(row) => (
            <CaseRow
              key={row.case}
              name={row.case}
              opened={opened}
              list={list}
              data={row}
              columns={besideName}
              openAtFirst={openAtFirst(row)}
              complete={printing || rows.length <= ALWAYS_RENDERED}
              printing={printing}
              mark={mark?.(row)}
              cells={() => cells(row)}
              details={(withPictures) => details(row, withPictures)}
            />
          )}
        </Rows>
      </table>
      <ShownCount shown={rows.length} all={all} />
    </>
  );
}
