/** How many requests were answered within each range of microseconds, on a logarithmic axis. */

import { count } from "../numbers.ts";
import type { LatencyBar } from "../records.ts";
import { linear, logarithmic } from "./axes.ts";
import { ChartFrame } from "./ChartFrame.tsx";
import { rateLabel } from "./ThroughputChart.tsx";

export function Bars({ bars }: { bars: LatencyBar[] }) {
  if (bars.length === 0) {
    return null;
  }
  const all = bars.reduce((sum, { requests }) => sum + requests, 0);
  const vertical = linear([0, ...bars.map(({ requests }) => requests)], rateLabel);
  const most = bars.reduce((left, right) => (right.requests > left.requests ? right : left));
  return (
    <ChartFrame
      title="Latencies"
      summary={`${count(all)} requests; most, ${count(most.requests)}, took ${rangeText(most)}`}
      horizontal={logarithmic(
        bars.flatMap(({ from_us, to_us }) => [from_us, to_us]),
        count,
      )}
      vertical={vertical}
      labels={{ horizontal: "latency, µs", vertical: "requests" }}
      sides={["head"]}
      readout={{
        at: bars.map(({ from_us, to_us }) => Math.sqrt(from_us * to_us)),
        text: (place) => {
          const bar = bars[place];
          return bar === undefined ? "" : `${rangeText(bar)}: ${count(bar.requests)} requests`;
        },
      }}
    >
      {(locate) =>
        bars.map(({ from_us, to_us, requests }) => {
          const [left, right] = [locate(from_us, requests), locate(to_us, vertical.low)];
          return (
            <rect
              key={from_us}
              class="bar"
              x={left.x}
              y={left.y}
              width={Math.max(0.5, right.x - left.x - 0.5)}
              height={Math.max(0, right.y - left.y)}
            />
          );
        })
      }
    </ChartFrame>
  );
}

function rangeText({ from_us, to_us }: LatencyBar): string {
  return `${count(from_us)} to ${count(to_us)} µs`;
}
