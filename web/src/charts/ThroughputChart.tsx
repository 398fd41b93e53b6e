import { count } from "../numbers.ts";
import { present, type Sides, type ThroughputPoint } from "../pictures.ts";
import { linear } from "./axes.ts";
import { ChartFrame } from "./ChartFrame.tsx";
import { median, rateLabel, throughputTold } from "./throughput.ts";

interface Properties {
  sides: Sides<ThroughputPoint[]>;
  startsAt: number[];
}

/** Points, not lines: a slice of the other side lies between two. A line is the median. */
export function ThroughputChart({ sides, startsAt }: Properties) {
  const drawn = present(sides).filter(([, points]) => points.length > 0);
  if (drawn.length === 0) {
    return null;
  }
  const all = drawn.flatMap(([, points]) => points);
  const horizontal = linear(
    all.map(([seconds]) => seconds),
    count,
  );
  const vertical = linear(
    all.map(([, rate]) => rate),
    rateLabel,
  );
  return (
    <ChartFrame
      title="Throughput"
      told={throughputTold(Object.fromEntries(drawn))}
      horizontal={horizontal}
      vertical={vertical}
      labels={{
        horizontal: `measured time, s; ${drawn.length > 1 ? "servers start anew at each mark" : "starts are marked"}`,
        vertical: "requests per second",
      }}
      sides={drawn.map(([side]) => side)}
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

function startMark({ x, y }: { x: number; y: number }): string {
  return `M${x.toFixed(1)} ${y.toFixed(1)}v-7`;
}
