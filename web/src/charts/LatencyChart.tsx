import { count } from "../numbers.ts";
import { type LatencyPoint, present, type Sides } from "../pictures.ts";
import { logarithmic } from "./axes.ts";
import { ChartFrame } from "./ChartFrame.tsx";
import { latencyTold, shareAxis } from "./latency.ts";

export function LatencyChart(sides: Sides<LatencyPoint[]>) {
  const drawn = present(sides).filter(([, points]) => points.some(([, time]) => time > 0));
  if (drawn.length === 0) {
    return null;
  }
  const times = drawn.flatMap(([, points]) => points.map(([, time]) => time));
  return (
    <ChartFrame
      title="Latency"
      told={latencyTold(Object.fromEntries(drawn))}
      horizontal={shareAxis(sides)}
      vertical={logarithmic(times, count)}
      labels={{ horizontal: "share of requests answered within", vertical: "latency, µs" }}
      sides={drawn.map(([side]) => side)}
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
