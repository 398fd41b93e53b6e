/** Series in one chart: what is drawn, what the pointer is over, and which lines are shown. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { change, count, counted, interval } from "../../core/numbers.ts";
import { type SeriesChart as Chart, type ChartLine, METRICS } from "../../core/records.ts";
import { SheetTable } from "../../core/Sheet.tsx";
import { byAuthor } from "../changes/CommitSubject.tsx";
import { commitUrl } from "../changes/links.ts";
import { drawChart, lineColour, lineDash, palette } from "./chart.ts";
import { type DrawnData, drawn, type HorizontalAxis } from "./lines.ts";
import "uplot/dist/uPlot.min.css";

interface Properties {
  chart: Chart;
  axis: HorizontalAxis;
  /** A stretch was chosen, by the ids of its first and last commit. */
  onZoom: (first: string, last: string) => void;
}

export function SeriesChart({ chart, axis, onZoom }: Properties) {
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const [hovered, setHovered] = useState<number | null>(null);
  const [pinned, setPinned] = useState<number | null>(null);
  const [colours, setColours] = useState(palette);
  const data = useMemo(() => drawn(chart, axis), [chart, axis]);
  const names = chart.legend.rows.map(([cell]) => cell?.text ?? "");
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const marked = useRef<number | null>(null);

  useEffect(() => {
    const queries = ["(prefers-color-scheme: dark)", "(forced-colors: active)"].map((query) =>
      matchMedia(query),
    );
    const follow = () => setColours(palette());
    for (const query of queries) {
      query.addEventListener("change", follow);
    }
    return () => {
      for (const query of queries) {
        query.removeEventListener("change", follow);
      }
    };
  }, []);

  useEffect(() => {
    if (place.current === null) {
      return undefined;
    }
    const choice = { chart, data, axis, hidden, pinned: () => marked.current };
    const zoom = (first: number, last: number) => {
      const [from, to] = [data.commits[first], data.commits[last]];
      if (from !== undefined && to !== undefined) {
        onZoom(from.commit, to.commit);
      }
    };
    const pin = (index: number) => setPinned((before) => (before === index ? null : index));
    const events = { onHover: setHovered, onClick: pin, onZoom: zoom };
    const shown = drawChart(place.current, choice, colours, events);
    plot.current = shown;
    const element = place.current;
    const resized = new ResizeObserver(() => {
      if (element.clientWidth > 0 && element.clientWidth !== shown.width) {
        shown.setSize({ width: element.clientWidth, height: shown.height });
      }
    });
    resized.observe(element);
    return () => {
      resized.disconnect();
      shown.destroy();
      plot.current = null;
    };
  }, [chart, data, axis, hidden, colours, onZoom]);

  // Another stretch has other commits.
  useEffect(() => setPinned(null), [data]);
  useEffect(() => {
    marked.current = pinned;
    plot.current?.redraw(false);
  }, [pinned]);

  const moveTo = (index: number) => {
    const at = Math.max(0, Math.min(data.horizontal.length - 1, index));
    const shown = plot.current;
    if (shown !== null) {
      shown.setCursor({ left: shown.valToPos(data.horizontal[at] ?? 0, "x"), top: 10 });
    }
    setHovered(at);
    setPinned(null);
  };
  const onKey = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      moveTo((pinned ?? hovered ?? (step > 0 ? -1 : data.horizontal.length)) + step);
    } else if (event.key === "Home" || event.key === "End") {
      event.preventDefault();
      moveTo(event.key === "Home" ? 0 : data.horizontal.length - 1);
    } else if (event.key === "Escape") {
      setPinned(null);
    }
  };
  return (
    <figure class="series-chart">
      <div
        ref={place}
        role="img"
        // The arrows move along the commits.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
        tabIndex={0}
        aria-label={summary(chart, names)}
        onKeyDown={onKey}
      />
      <Readout
        data={data}
        chart={chart}
        names={names}
        at={pinned ?? hovered}
        isPinned={pinned !== null}
        hidden={hidden}
      />
      <SheetTable
        table={chart.legend}
        label="Lines of the chart"
        named={(shown, _, index) => (
          <label>
            <input
              type="checkbox"
              checked={!hidden.has(index)}
              onChange={() => setHidden(toggled(hidden, index))}
            />{" "}
            <svg class="sample" viewBox="0 0 28 8" aria-hidden="true">
              <path
                d="M0 4H28"
                stroke={lineColour(index, colours)}
                stroke-width="3"
                stroke-dasharray={lineDash(index, colours).join(" ")}
              />
            </svg>{" "}
            {shown}
          </label>
        )}
      />
    </figure>
  );
}

function toggled(set: ReadonlySet<number>, index: number): ReadonlySet<number> {
  const changed = new Set(set);
  if (!changed.delete(index)) {
    changed.add(index);
  }
  return changed;
}

interface ReadoutProperties {
  data: DrawnData;
  chart: Chart;
  names: readonly string[];
  at: number | null;
  isPinned: boolean;
  hidden: ReadonlySet<number>;
}

/** The commit that is pinned, or else under the pointer, with the values of all lines there. */
function Readout({ data, chart, names, at, isPinned, hidden }: ReadoutProperties) {
  const commit = at === null ? undefined : data.commits[at];
  if (at === null || commit === undefined) {
    return (
      <p class="series-readout quiet small">
        Move over the chart, or use the arrow keys in it, to read the values of a commit; a click pins them.
        Choose a stretch with the mouse to zoom.
      </p>
    );
  }
  return (
    <div class="series-readout small" aria-live="polite">
      <p>
        <a href={commitUrl(commit.commit)}>
          <code>{commit.name}</code>
        </a>{" "}
        <span class="number quiet">{commit.time.replace("T", " ").replace("Z", " UTC")}</span>{" "}
        {byAuthor(commit)}
        {isPinned && <span class="quiet"> (pinned: a second click or Escape releases it)</span>}
      </p>
      <ul class="plain-list">
        {chart.lines.map((line, index) => {
          const point = data.lines[index]?.points[at];
          return point === null || point === undefined || hidden.has(index) ? null : (
            <li key={names[index]}>
              {names[index]}: <PointValue line={line} point={point} />
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function PointValue({ line, point }: { line: ChartLine; point: number }) {
  const value = line.values[point] ?? null;
  const points = line.counts[point] ?? 1;
  return (
    <span class="number">
      {change(line.changes[point] ?? null)} {interval(line.lows[point] ?? null, line.highs[point] ?? null)} %
      {value !== null && ` (${count(value)} ${METRICS[line.metric]?.unit ?? ""})`}
      {points > 1 &&
        `, mean of ${points} commits from ${change(line.least[point] ?? null)} to ${change(line.most[point] ?? null)}`}
    </span>
  );
}

/** The chart in words. */
function summary(chart: Chart, names: readonly string[]): string {
  const lines = chart.legend.rows.map(([, end], index) => `${names[index]}: ${end?.text} at the last commit`);
  const points = counted(chart.change_points.length, "change point", "change points");
  return `Changes over ${counted(chart.commits.length, "commit", "commits")}. ${lines.join("; ")}. ${points}, in the table below.`;
}
