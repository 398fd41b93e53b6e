/** A chart of series, drawn by uPlot: lines with ribbons of their intervals, change points, and releases. */

import uPlot from "uplot";
import type { ChartLine, ListedChange } from "../../core/records.ts";
import { type DrawnData, type HorizontalAxis, lineOf } from "./lines.ts";

/** Colours of lines that colour-blind people can tell apart (Okabe and Ito, 2008); more lines differ in their dashes. */
const LIGHT = ["#0072b2", "#d55e00", "#007a5a", "#9e4c86", "#8a6d00", "#3a7ca5", "#5a6270", "#16191d"];
const DARK = ["#56b4e9", "#ff9b54", "#3ccf9e", "#e39bc7", "#f0e442", "#9ad1f5", "#aab3bf", "#e6e9ed"];
const DASHES = [[], [8, 4], [2, 3]];
/** Where the reader has chosen the colours: these can be read on their ground, but may be alike, so that dashes differ first. */
const FORCED = ["CanvasText", "LinkText", "VisitedText"];
const FORCED_DASHES = [
  [],
  [8, 4],
  [2, 3],
  [12, 3, 2, 3],
  [16, 4],
  [6, 3, 2, 3, 2, 3],
  [4, 8],
  [2, 3, 12, 3, 12, 3],
];
const MARK = 6;
const HEIGHT = 360;
/** In pixels, as is the height: of digits in the font of the axes, and of the ticks beside the labels. */
const CHARACTER_WIDTH = 8;
const AXIS_GAP = 18;
const LEAST_AXIS_WIDTH = 62;
/** A pointer that moves as far between press and release chooses a stretch; else it clicks. */
const DRAG_PIXELS = 5;
/** An axis of dates that is shorter has the time of day too. */
const SHORT_SECONDS = 4 * 86_400;

export interface Palette {
  lines: readonly string[];
  isForced: boolean;
  text: string;
  grid: string;
  worse: string;
  better: string;
}

export function palette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(name).trim();
  const isForced = matchMedia("(forced-colors: active)").matches;
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  return {
    lines: isForced ? FORCED : isDark ? DARK : LIGHT,
    isForced,
    text: of("--quiet"),
    // Lines have the colour of the text: those of the grid have to differ.
    grid: isForced ? "GrayText" : of("--line"),
    worse: of("--regression"),
    better: of("--accent"),
  };
}

export function lineColour(index: number, { lines, isForced }: Palette): string {
  const place = isForced ? Math.floor(index / FORCED_DASHES.length) : index;
  return lines[place % lines.length] ?? "gray";
}

export function lineDash(index: number, { lines, isForced }: Palette): number[] {
  if (isForced) {
    return FORCED_DASHES[index % FORCED_DASHES.length] ?? [];
  }
  return DASHES[Math.floor(index / lines.length) % DASHES.length] ?? [];
}

/** What a line of a chart is of. */
export type LineSubject = Pick<ChartLine, "history" | "case" | "metric" | "topology" | "source" | "engine">;

export interface ChartChoice {
  chart: { lines: readonly LineSubject[]; change_points: readonly ListedChange[] };
  data: DrawnData;
  axis: HorizontalAxis;
  /** The indices of lines that are not drawn. */
  hidden: ReadonlySet<number>;
  /** How values are written at the vertical axis; by default they are changes in percent. */
  write?: (value: number) => string;
  /** The index of the horizontal value that is marked; asked whenever the chart is drawn. */
  pinned?: () => number | null;
}

export interface ChartEvents {
  /** The pointer is over the horizontal value with this index, null when it has left. */
  onHover: (index: number | null) => void;
  /** The horizontal value with this index was clicked. */
  onClick: (index: number) => void;
  /** A stretch was chosen, by the indices of its ends. */
  onZoom: (first: number, last: number) => void;
}

export function drawChart(
  place: HTMLElement,
  choice: ChartChoice,
  colours: Palette,
  events: ChartEvents,
): uPlot {
  const { data, axis } = choice;
  const options: uPlot.Options = {
    width: Math.max(200, place.clientWidth),
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: false, dist: DRAG_PIXELS }, points: { size: 6 } },
    scales: { x: { time: axis === "dates" } },
    axes: [
      { stroke: colours.text, grid: gridOf(colours), ticks: { stroke: colours.grid } },
      {
        stroke: colours.text,
        grid: gridOf(colours),
        ticks: { stroke: colours.grid },
        size: (_, values) => axisWidth(values),
        values: (_, values) => values.map(choice.write ?? percentLabel),
      },
    ],
    series: [{}, ...choice.chart.lines.flatMap((_, index) => seriesOf(choice, index, colours))],
    bands: choice.chart.lines.flatMap((_, index) => bandsOf(index, colours)),
    hooks: {
      draw: [(plot) => drawMarks(plot, choice, colours)],
      ready: [(plot) => listenForClicks(plot, events.onClick)],
      setCursor: [(plot) => events.onHover(plot.cursor.idx ?? null)],
      setSelect: [
        (plot) => {
          if (plot.select.width > 0) {
            const ends = [plot.select.left, plot.select.left + plot.select.width];
            const [first, last] = ends.map((at) => plot.posToIdx(at));
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            if (first !== undefined && last !== undefined && first !== last) {
              events.onZoom(first, last);
            }
          }
        },
      ],
    },
  };
  if (axis === "dates" && options.axes?.[0] !== undefined) {
    // As all times of the pages: in UTC, the year first.
    options.tzDate = (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC");
    const [from, to] = [data.horizontal.at(0) ?? 0, data.horizontal.at(-1) ?? 0];
    options.axes[0].values = to - from < SHORT_SECONDS ? "{HH}:{mm}\n{YYYY}-{MM}-{DD}" : "{YYYY}-{MM}-{DD}";
    options.axes[0].space = 90;
  }
  if (axis === "commits" && options.axes?.[0] !== undefined) {
    options.axes[0].values = (_, places) => places.map((at) => nameAt(data, at));
    options.axes[0].incrs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
    options.axes[0].space = 90;
  }
  const columns = data.lines.flatMap((line) => [line.changes, line.lows, line.highs, line.least, line.most]);
  return new uPlot(options, [data.horizontal, ...columns], place);
}

function listenForClicks(plot: uPlot, onClick: (index: number) => void): void {
  let pressedAt = 0;
  plot.over.addEventListener("mousedown", (event) => {
    pressedAt = event.clientX;
  });
  plot.over.addEventListener("click", (event) => {
    const index = plot.cursor.idx ?? null;
    if (index !== null && Math.abs(event.clientX - pressedAt) < DRAG_PIXELS) {
      onClick(index);
    }
  });
}

function gridOf({ grid, isForced }: Palette): uPlot.Axis.Grid {
  return { stroke: grid, width: 1, dash: isForced ? [1, 6] : [] };
}

/** The width of the vertical axis, which the longest of its labels needs. */
export function axisWidth(labels: readonly string[] | null): number {
  const longest = Math.max(0, ...(labels ?? []).map((label) => label.length));
  return Math.max(LEAST_AXIS_WIDTH, Math.ceil(longest * CHARACTER_WIDTH) + AXIS_GAP);
}

function percentLabel(value: number): string {
  return `${value > 0 ? "+" : ""}${value} %`;
}

/** The series of a line: itself, both bounds, and both extremes where points stand for several. */
const SERIES_OF_LINE = 5;

function seriesOf({ chart, data, hidden }: ChartChoice, index: number, colours: Palette): uPlot.Series[] {
  const isCounted = chart.lines[index]?.engine === "counted";
  const paths = isCounted ? uPlot.paths.stepped?.({ align: 1 }) : uPlot.paths.linear?.();
  const common = { spanGaps: true, points: { show: false }, ...(paths === undefined ? {} : { paths }) };
  const show = !hidden.has(index);
  const isAggregated = data.lines[index]?.isAggregated ?? false;
  const line = {
    ...common,
    show,
    stroke: lineColour(index, colours),
    width: 2,
    dash: lineDash(index, colours),
    points: { show: data.horizontal.length < 40, size: 4 },
  };
  const bound = { ...common, show, stroke: "transparent", width: 0 };
  const extreme = { ...bound, show: show && isAggregated };
  return [line, bound, bound, extreme, extreme];
}

function bandsOf(index: number, colours: Palette): uPlot.Band[] {
  const first = 1 + index * SERIES_OF_LINE;
  const colour = lineColour(index, colours);
  // The colours that a reader forces have no transparent form: bounds are left to the texts.
  const fill = (alpha: string) => (colour.startsWith("#") ? `${colour}${alpha}` : "transparent");
  return [
    { series: [first + 2, first + 1], fill: fill("30") },
    { series: [first + 4, first + 3], fill: fill("20") },
  ];
}

function nameAt({ horizontal, commits }: DrawnData, place: number): string {
  const commit = commits[horizontal.findLastIndex((at) => at <= place)];
  return commit === undefined ? "" : commit.is_release ? commit.name : commit.name.slice(0, 7);
}

/** Draws releases and the marked commit as lines, and changes as triangles: up for more, down for less. */
function drawMarks(plot: uPlot, { chart, data, hidden, pinned }: ChartChoice, colours: Palette): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.font = `${11 * scale}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.lineWidth = scale;
  let free = Number.NEGATIVE_INFINITY;
  for (const [index, commit] of data.commits.entries()) {
    if (commit.is_release) {
      const x = plot.valToPos(data.horizontal[index] ?? 0, "x", true);
      ctx.strokeStyle = colours.text;
      ctx.setLineDash([3 * scale, 3 * scale]);
      line(ctx, x, bbox.top, x, bbox.top + bbox.height);
      // A name that would stand in another one is left out: hovering shows it.
      if (x >= free) {
        ctx.fillStyle = colours.text;
        ctx.fillText(commit.name, x + 3 * scale, bbox.top + 11 * scale);
        free = x + ctx.measureText(commit.name).width + 8 * scale;
      }
    }
  }
  ctx.setLineDash([]);
  const marked = data.horizontal[pinned?.() ?? -1];
  if (marked !== undefined) {
    const x = plot.valToPos(marked, "x", true);
    ctx.strokeStyle = colours.text;
    ctx.lineWidth = 2 * scale;
    line(ctx, x, bbox.top, x, bbox.top + bbox.height);
  }
  const byCommit = new Map(data.commits.map((commit, index) => [commit.commit, index]));
  for (const change of chart.change_points) {
    const of = lineOf(chart.lines, change);
    if (of >= 0 && !hidden.has(of)) {
      drawChange(plot, change, data, { of, byCommit, colours, scale });
    }
  }
  ctx.restore();
}

interface MarkContext {
  of: number;
  byCommit: ReadonlyMap<string, number>;
  colours: Palette;
  scale: number;
}

function drawChange(
  plot: uPlot,
  change: ListedChange,
  data: DrawnData,
  { of, byCommit, colours, scale }: MarkContext,
): void {
  const index = change.commit === null ? undefined : indexAt(change.commit.commit, data, of, byCommit);
  if (index === undefined) {
    return;
  }
  const { ctx } = plot;
  const x = plot.valToPos(data.horizontal[index] ?? 0, "x", true);
  const y = plot.valToPos(data.lines[of]?.changes[index] ?? 0, "y", true);
  const size = MARK * scale;
  const tip = change.change > 0 ? -size : size;
  // Above the line for more, below it for less.
  const middle = y + 2 * tip;
  ctx.beginPath();
  ctx.moveTo(x, middle + tip);
  ctx.lineTo(x - size, middle - tip);
  ctx.lineTo(x + size, middle - tip);
  ctx.closePath();
  ctx.lineWidth = 1.5 * scale;
  ctx.strokeStyle = change.is_worse ? colours.worse : change.is_opposed ? colours.text : colours.better;
  ctx.fillStyle = ctx.strokeStyle;
  ctx.stroke();
  // An open triangle is a step that is not confirmed, or that is accepted.
  if (change.confirmed && change.accepted === null) {
    ctx.fill();
  }
}

/** The index of the first point of a line at a commit or after it: a point may stand for several up to its commit. */
function indexAt(
  commit: string,
  data: DrawnData,
  of: number,
  byCommit: ReadonlyMap<string, number>,
): number | undefined {
  const from = byCommit.get(commit);
  const points = data.lines[of]?.points ?? [];
  const index = from === undefined ? -1 : points.findIndex((point, at) => at >= from && point !== null);
  return index < 0 ? undefined : index;
}

function line(ctx: CanvasRenderingContext2D, x: number, y: number, toX: number, toY: number): void {
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(toX, toY);
  ctx.stroke();
}
