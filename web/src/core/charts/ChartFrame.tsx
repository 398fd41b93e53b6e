import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { SideName } from "../sides.ts";
import type { Axis } from "./axes.ts";

const HEIGHT = 230;
const LETTER = 7;
const MARGIN = { top: 10, right: 14, bottom: 40, left: 76 };

/** Where a point of a chart is, in pixels. */
export type Locate = (x: number, y: number) => { x: number; y: number };

/** What is read at a place of a chart, by the pointer or the arrow keys. */
export interface Readout {
  /** The horizontal values that have a text, in order. */
  at: number[];
  text: (place: number) => string;
}

interface Properties {
  title: string;
  /** The figures of the chart in words. */
  summary: string;
  horizontal: Axis;
  vertical: Axis;
  labels: { horizontal: string; vertical: string };
  /** The sides that are drawn; one alone needs no legend. */
  sides: SideName[];
  readout?: Readout;
  children: (locate: Locate) => ComponentChildren;
}

/** Title, legend and axes of a chart. It is drawn at the width of its place, so that text keeps its size. */
export function ChartFrame(properties: Properties) {
  const { title, summary, horizontal, vertical, labels, sides, readout, children } = properties;
  const [read, setRead] = useState<number | null>(null);
  const [figure, width] = useWidth();
  const inner = { width: width - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
  const across = (value: number) => MARGIN.left + horizontal.place(value) * inner.width;
  const up = (value: number) => MARGIN.top + (1 - vertical.place(value)) * inner.height;
  const bottom = HEIGHT - MARGIN.bottom;
  const at = read === null ? undefined : readout?.at[read];
  const middle = { x: MARGIN.left + inner.width / 2, y: MARGIN.top + inner.height / 2 };
  return (
    <figure class="picture" ref={figure}>
      <figcaption>
        <strong>{title}</strong>
        {(sides.length > 1 ? sides : []).map((side) => (
          <span key={side} class={`legend ${side}`}>
            <svg class="sample" viewBox="0 0 24 8" aria-hidden="true">
              <path class="line" d="M0 4H24" />
            </svg>{" "}
            {side}
          </span>
        ))}
      </figcaption>
      {width > 0 && (
        <svg
          viewBox={`0 0 ${width} ${HEIGHT}`}
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={summary}
          tabIndex={readout === undefined ? undefined : 0}
          onPointerMove={(event) => {
            const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
            setRead(readout === undefined ? null : nearest(readout.at, across, x));
          }}
          onPointerLeave={() => setRead(null)}
          onBlur={() => setRead(null)}
          onKeyDown={(event) => {
            const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
            if (readout !== undefined && step !== undefined) {
              event.preventDefault();
              setRead(Math.max(0, Math.min(readout.at.length - 1, (read ?? -1) + step)));
            }
          }}
        >
          <title>{summary}</title>
          {vertical.ticks.map(({ value, label }) => (
            <g key={value}>
              <path class="grid" d={`M${MARGIN.left} ${up(value)}H${width - MARGIN.right}`} />
              <text class="end" x={MARGIN.left - 6} y={up(value) + 4}>
                {label}
              </text>
            </g>
          ))}
          {apart(horizontal.ticks, across).map(({ value, label }) => (
            <g key={value}>
              <path class="grid" d={`M${across(value)} ${MARGIN.top}V${bottom}`} />
              <text class="middle" x={across(value)} y={bottom + 15}>
                {label}
              </text>
            </g>
          ))}
          <text class="middle" x={middle.x} y={HEIGHT - 6}>
            {labels.horizontal}
          </text>
          <text class="middle" transform={`translate(12 ${middle.y}) rotate(-90)`}>
            {labels.vertical}
          </text>
          {children((x, y) => ({ x: across(x), y: up(y) }))}
          {at !== undefined && <path class="reading" d={`M${across(at)} ${MARGIN.top}V${bottom}`} />}
        </svg>
      )}
      {readout !== undefined && (
        <p class="quiet small reading-text" aria-live="polite">
          {at === undefined || read === null ? "\u00a0" : readout.text(read)}
        </p>
      )}
    </figure>
  );
}

/** The place of the value that is drawn nearest to a pixel; null without any. */
function nearest(values: number[], across: (value: number) => number, x: number): number | null {
  let found: number | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const [place, value] of values.entries()) {
    const distance = Math.abs(across(value) - x);
    if (distance < least) {
      [found, least] = [place, distance];
    }
  }
  return found;
}

/** The ticks whose labels have room; of two that overlap the later one stays. */
function apart(ticks: Axis["ticks"], across: (value: number) => number): Axis["ticks"] {
  const kept: Axis["ticks"] = [];
  for (const tick of [...ticks].reverse()) {
    const next = kept.at(-1);
    const room = LETTER * (tick.label.length + (next?.label.length ?? 0) + 2) * 0.5;
    if (next === undefined || across(next.value) - across(tick.value) >= room) {
      kept.push(tick);
    }
  }
  return kept.reverse();
}

function useWidth() {
  const element = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (element.current === null) {
      return;
    }
    const resized = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    resized.observe(element.current);
    return () => resized.disconnect();
  }, []);
  return [element, width] as const;
}
