/** Latency by percentile, on an axis on which each further nine takes as much room. */

import { count } from "../numbers.ts";
import { type LatencyPoint, present, type SideName, type Sides, sideTexts } from "../sides.ts";
import { type Axis, logarithmic } from "./axes.ts";
import { ChartFrame, type Readout } from "./ChartFrame.tsx";

const MARKED = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];

/** How far right of the last percentile the maximum is, in nines. */
const MAXIMUM_AT = 0.6;

export function LatencyChart(sides: Sides<LatencyPoint[]>) {
  const drawn = present(sides).filter(([, points]) => points.some(([, time]) => time > 0));
  if (drawn.length === 0) {
    return null;
  }
  const times = drawn.flatMap(([, points]) => points.map(([, time]) => time));
  return (
    <ChartFrame
      title="Latency"
      summary={latencySummary(Object.fromEntries(drawn))}
      horizontal={shareAxis(sides)}
      vertical={logarithmic(times, count)}
      labels={{ horizontal: "percentile of requests", vertical: "latency, µs" }}
      sides={drawn.map(([side]) => side)}
      readout={readoutOf(drawn)}
    >
      {(locate) =>
        drawn.map(([side, points]) => {
          const line = points.map(([share, time]) => {
            const { x, y } = locate(share, time);
            return `${x.toFixed(1)} ${y.toFixed(1)}`;
          });
          return (
            <g key={side} class={side}>
              <path class="line" d={`M${line.join("L")}`} />
            </g>
          );
        })
      }
    </ChartFrame>
  );
}

/** What is read at each share of requests that any side has. */
function readoutOf(drawn: [SideName, LatencyPoint[]][]): Readout {
  const shares = [...new Set(drawn.flatMap(([, points]) => points.map(([share]) => share)))];
  const at = shares.sort((left, right) => left - right);
  return {
    at,
    text: (place) => {
      const share = at[place] ?? 0;
      const values = sideTexts<LatencyPoint[]>(
        Object.fromEntries(drawn),
        (points) => `${count(quantile(points, share))} µs`,
      );
      return `${share === 1 ? "the slowest request" : `${shareLabel(share)} of requests within`}: ${values.join(", ")}`;
    },
  };
}

export function shareLabel(share: number): string {
  return share === 1 ? "max" : `${Number((share * 100).toFixed(4))} %`;
}

/** The axis of shares; the maximum has no finite place and is drawn a bit right of the last share before it. */
export function shareAxis(sides: Sides<LatencyPoint[]>): Axis {
  const shares = present(sides).flatMap(([, points]) => points.map(([share]) => share));
  const finite = Math.max(0.5, ...shares.filter((share) => share < 1));
  const end = nines(finite) + MAXIMUM_AT;
  const place = (share: number) => (share >= 1 ? 1 : nines(share) / end);
  const marked = MARKED.filter((share) => share <= finite);
  return {
    low: 0,
    high: 1,
    place,
    ticks: [...marked, 1].map((share) => ({ value: share, label: shareLabel(share) })),
  };
}

function nines(share: number): number {
  return -Math.log10(1 - share);
}

/** Within how many microseconds a share of the requests was answered; null where that was not measured. */
export function quantile(points: LatencyPoint[], share: number): number | null {
  return points.find(([within]) => within >= share)?.[1] ?? null;
}

/** The figures of the chart in words. */
export function latencySummary(sides: Sides<LatencyPoint[]>): string {
  const parts = [0.5, 0.99, 0.999, 1].map((share) => {
    const values = sideTexts(sides, (points) => count(quantile(points, share)));
    return `${shareLabel(share)} ${values.join(", ")}`;
  });
  return `Latency in microseconds: ${parts.join("; ")}`;
}
