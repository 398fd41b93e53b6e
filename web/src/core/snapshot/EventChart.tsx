/** The longest latency of each slot around an event. */

import { linear } from "../charts/axes.ts";
import { ChartFrame } from "../charts/ChartFrame.tsx";
import { count } from "../numbers.ts";

interface Properties {
  title: string;
  /** Seconds from the event on, and the longest latency in milliseconds. */
  points: [number, number][];
}

export function EventChart({ title, points }: Properties) {
  if (points.length === 0) {
    return null;
  }
  const longest = Math.max(...points.map(([, value]) => value));
  return (
    <ChartFrame
      title={title}
      summary={`${title}: up to ${count(longest)} ms`}
      horizontal={linear(
        points.map(([seconds]) => seconds),
        count,
      )}
      vertical={linear([0, ...points.map(([, value]) => value)], count)}
      labels={{ horizontal: "seconds from the event on", vertical: "longest latency, ms" }}
      sides={["head"]}
      readout={{
        at: points.map(([seconds]) => seconds),
        text: (place) => {
          const point = points[place];
          return point === undefined ? "" : `at ${count(point[0])} s: ${count(point[1])} ms`;
        },
      }}
    >
      {(locate) => {
        const marks = points.map(([seconds, value]) => {
          const { x, y } = locate(seconds, value);
          return `${x.toFixed(1)} ${y.toFixed(1)}`;
        });
        return (
          <g class="head">
            <path class="line" d={`M${marks.join("L")}`} />
          </g>
        );
      }}
    </ChartFrame>
  );
}
