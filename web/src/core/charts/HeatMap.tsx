/**
 * A table whose cells are coloured by a number.
 *
 * Each cell has its number as text too, so that it is read without colours. Rows far from the window are not drawn.
 */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import "./heat-map.css";

export interface HeatCell {
  /** What the colour shows; null has none. */
  value: number | null;
  text: string;
  /** What the cell means, in words, with units. */
  title: string;
  href?: string;
}

export interface HeatLine {
  key: string;
  label: ComponentChildren;
  title?: string;
}

interface Properties<Row extends HeatLine, Column extends HeatLine> {
  caption: ComponentChildren;
  /** The heading of the column of row labels. */
  corner: string;
  rows: readonly Row[];
  columns: readonly Column[];
  cell: (row: Row, column: Column) => HeatCell | null;
  /** The value that has the full colour, as has all beyond it. */
  limit: number;
  /** Values above 0 are red and below 0 blue, or all are amounts of one colour. */
  colours?: "worse-better" | "amount";
}

const ROW_PIXELS = 32;
const ALL_DRAWN_UP_TO = 120;
const BEYOND_WINDOW = 20;

export function HeatMap<Row extends HeatLine, Column extends HeatLine>(properties: Properties<Row, Column>) {
  const { caption, corner, rows, columns, cell, limit, colours = "worse-better" } = properties;
  const body = useRef<HTMLTableSectionElement>(null);
  const [first, last] = useDrawnRows(body, rows.length);
  const frame = useRef<HTMLElement>(null);
  const isCut = useIsCut(frame, columns.length);
  const table = (
    // The frame scrolls sideways, by the keyboard too.
    <section
      ref={frame}
      class={isCut ? "heat-frame is-cut" : "heat-frame"}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
      tabIndex={0}
      aria-label={isCut ? "Heat map, scrolls sideways" : "Heat map"}
    >
      <table class="heat" aria-rowcount={rows.length + 1}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{corner}</th>
            {columns.map(({ key, label, title }) => (
              <th key={key} scope="col" class="number" title={title}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          <Gap rows={first} columns={columns.length} />
          {rows.slice(first, last).map((row, index) => (
            <tr key={row.key} aria-rowindex={first + index + 2}>
              <th scope="row" title={row.title}>
                {row.label}
              </th>
              {columns.map((column) => (
                <Cell key={column.key} cell={cell(row, column)} limit={limit} colours={colours} />
              ))}
            </tr>
          ))}
          <Gap rows={rows.length - last} columns={columns.length} />
        </tbody>
      </table>
    </section>
  );
  return (
    <>
      {isCut && (
        <p class="quiet small heat-hint">
          The table is wider than the window: scroll it sideways to see all {columns.length} columns, by the
          keyboard with Tab into it and the arrow keys.
        </p>
      )}
      {table}
    </>
  );
}

/** Whether the table is wider than its frame. */
function useIsCut(frame: { current: HTMLElement | null }, columns: number): boolean {
  const [isCut, setIsCut] = useState(false);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) {
      return undefined;
    }
    const measured = new ResizeObserver(() => setIsCut(element.scrollWidth > element.clientWidth + 1));
    measured.observe(element);
    return () => measured.disconnect();
  }, [frame, columns]);
  return isCut;
}

function Cell({
  cell,
  limit,
  colours,
}: {
  cell: HeatCell | null;
  limit: number;
  colours: "worse-better" | "amount";
}) {
  if (cell === null) {
    return <td class="heat-none" title="not measured" />;
  }
  const { value, text, title, href } = cell;
  const background = shade(value, limit, colours);
  return (
    <td
      class={background === undefined ? "heat-cell" : "heat-cell is-coloured"}
      title={title}
      style={{ background }}
    >
      {href === undefined ? text : <a href={href}>{text}</a>}
    </td>
  );
}

/** The colour of a value: none near zero, full at the limit. */
export function shade(
  value: number | null,
  limit: number,
  colours: "worse-better" | "amount",
): string | undefined {
  const part = value === null ? 0 : Math.min(1, Math.abs(value) / limit);
  if (value === null || part < 0.02) {
    return undefined;
  }
  const name = colours === "amount" ? "amount" : value > 0 ? "worse" : "better";
  return `color-mix(in srgb, var(--heat-${name}) ${Math.round(part * 100)}%, transparent)`;
}

function Gap({ rows, columns }: { rows: number; columns: number }) {
  return rows <= 0 ? null : (
    <tr>
      <td colSpan={columns + 1} style={{ height: `${rows * ROW_PIXELS}px`, padding: "0" }} />
    </tr>
  );
}

/** The rows near the window: from the first one up to the last one, which is left out. */
function useDrawnRows(body: { current: HTMLElement | null }, count: number): [number, number] {
  const [drawn, setDrawn] = useState<[number, number]>([0, ALL_DRAWN_UP_TO]);
  const isLong = count > ALL_DRAWN_UP_TO;
  useLayoutEffect(() => {
    if (!isLong) {
      return undefined;
    }
    const follow = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-top / ROW_PIXELS) - BEYOND_WINDOW);
      const last = first + Math.ceil(innerHeight / ROW_PIXELS) + 2 * BEYOND_WINDOW;
      setDrawn((before) => (before[0] === first && before[1] === last ? before : [first, last]));
    };
    follow();
    addEventListener("scroll", follow, { passive: true });
    addEventListener("resize", follow);
    return () => {
      removeEventListener("scroll", follow);
      removeEventListener("resize", follow);
    };
  }, [isLong, body]);
  return isLong ? [Math.min(drawn[0], count), Math.min(drawn[1], count)] : [0, count];
}
