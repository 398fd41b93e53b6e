/** Requests per second over time. */

import { count } from "../numbers.ts";
import { present, type SideName, type Sides, sideTexts, type ThroughputPoint } from "../sides.ts";
import { linear } from "./axes.ts";
import { ChartFrame, type Readout } from "./ChartFrame.tsx";

interface Properties {
  sides: Sides<ThroughputPoint[]>;
  startsAt: number[];
}

/** Throughput of each slice as points, since slices of the sides alternate; the lines are medians. */
export function ThroughputChart({ sides, startsAt }: Properties) {
  const drawn = present(sides).filter(([, points]) => points.length > 0);
  if (drawn.length === 0) {
    return null;
  }
  const all = drawn.flatMap(([, points]) => points);
  const horizontal = linear([...startsAt, ...all.map(([seconds]) => seconds)], count);
  const vertical = linear(
    all.map(([, rate]) => rate),
    rateLabel,
  );
  return (
    <ChartFrame
      title="Throughput"
      summary={throughputSummary(Object.fromEntries(drawn))}
      horizontal={horizontal}
      vertical={vertical}
      labels={{
        horizontal: "measured time, s; marks: server starts",
        vertical: "requests per second",
      }}
      sides={drawn.map(([side]) => side)}
      readout={readoutOf(drawn)}
    >
      {(locate) => [
        <path
          key="starts"
          class="starts"
          d={startsAt.map((at) => startMark(locate(at, vertical.low))).join("")}
        />,
        ...drawn.map(([side, points]) => {
          const marks = points.map(([seconds, rate]) => {
            const { x, y } = locate(seconds, rate);
            return `M${x.toFixed(1)} ${y.toFixed(1)}h0`;
          });
          const level = median(points) ?? 0;
          const [from, to] = [locate(horizontal.low, level), locate(horizontal.high, level)];
          return (
            <g key={side} class={side}>
              <path class="points" d={marks.join("")} />
              <path class="line" d={`M${from.x} ${from.y}H${to.x}`} />
            </g>
          );
        }),
      ]}
    </ChartFrame>
  );
}

/** What is read at each point, of whichever side it is. */
function readoutOf(drawn: [SideName, ThroughputPoint[]][]): Readout {
  const points = drawn
    .flatMap(([side, ofSide]) => ofSide.map(([seconds, rate]) => ({ side, seconds, rate })))
    .sort((left, right) => left.seconds - right.seconds);
  return {
    at: points.map(({ seconds }) => seconds),
    text: (place) => {
      const point = points[place];
      const side = drawn.length > 1 ? `${point?.side} ` : "";
      return point === undefined
        ? ""
        : `${side}at ${count(point.seconds)} s: ${count(point.rate)} requests per second`;
    },
  };
}

function startMark({ x, y }: { x: number; y: number }): string {
  return `M${x.toFixed(1)} ${y.toFixed(1)}v-7`;
}

export function median(points: ThroughputPoint[]): number | null {
  const sorted = points.map(([, rate]) => rate).sort((left, right) => left - right);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}

export function rateLabel(rate: number): string {
  if (rate >= 1e6) {
    return `${count(rate / 1e6)} M`;
  }
  return rate >= 1e4 ? `${count(rate / 1e3)} k` : count(rate);
}

/** The figures of the chart in words. */
export function throughputSummary(sides: Sides<ThroughputPoint[]>): string {
  const parts = sideTexts(sides, (points) => {
    const rates = points.map(([, rate]) => rate);
    const [least, most] = [Math.min(...rates), Math.max(...rates)];
    return `median ${count(median(points))}, ${count(least)} to ${count(most)}`;
  });
  return `Requests per second: ${parts.join("; ")}`;
}
