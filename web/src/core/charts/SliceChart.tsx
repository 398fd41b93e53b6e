/** A figure of a trial over its slices. */

import { count } from "../numbers.ts";
import { linear } from "./axes.ts";
import { ChartFrame } from "./ChartFrame.tsx";
import { rateLabel } from "./ThroughputChart.tsx";

interface Properties {
  title: string;
  unit: string;
  /** Seconds since the first slice began, and the figure of the slice that begins there. */
  points: [number, number][];
}

export function SliceChart({ title, unit, points }: Properties) {
  if (points.length === 0) {
    return null;
  }
  const values = points.map(([, value]) => value);
  return (
    <ChartFrame
      title={title}
      summary={`${title}, ${unit}: ${count(Math.min(...values))} to ${count(Math.max(...values))} in ${points.length} slices`}
      horizontal={linear(
        points.map(([seconds]) => seconds),
        count,
      )}
      vertical={linear(values, rateLabel)}
      labels={{ horizontal: "measured time, s", vertical: unit }}
      sides={["head"]}
      readout={{
        at: points.map(([seconds]) => seconds),
        text: (place) => {
          const point = points[place];
          return point === undefined ? "" : `at ${count(point[0])} s: ${count(point[1])} ${unit}`;
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
