/** A figure of repetitions over the memory of the server. */

import { linear } from "../charts/axes.ts";
import { ChartFrame } from "../charts/ChartFrame.tsx";
import { count } from "../numbers.ts";
import type { SizedValue } from "./snapshot.ts";

interface Properties {
  title: string;
  /** What is measured, with its unit. */
  label: string;
  repetitions: SizedValue[];
  medians: SizedValue[];
}

/** Each repetition as a point, and a line through the medians of the sizes; both axes begin at 0. */
export function SizeChart({ title, label, repetitions, medians }: Properties) {
  if (repetitions.length === 0) {
    return null;
  }
  const values = repetitions.map(([, value]) => value);
  return (
    <ChartFrame
      title={title}
      summary={`${title}: ${medians.map(([gib, value]) => `${count(value)} ms at ${count(gib)} GiB`).join(", ")}`}
      horizontal={linear([0, ...repetitions.map(([gib]) => gib)], count)}
      vertical={linear([0, ...values], count)}
      labels={{ horizontal: "resident memory, GiB", vertical: label }}
      sides={["head"]}
      readout={{
        at: repetitions.map(([gib]) => gib),
        text: (place) => {
          const point = repetitions[place];
          return point === undefined ? "" : `${count(point[0])} GiB: ${count(point[1])} ms`;
        },
      }}
    >
      {(locate) => {
        const written = ([gib, value]: SizedValue) => {
          const { x, y } = locate(gib, value);
          return `${x.toFixed(1)} ${y.toFixed(1)}`;
        };
        return (
          <g class="head">
            <path class="points" d={repetitions.map((point) => `M${written(point)}h0`).join("")} />
            {medians.length > 1 && <path class="line" d={`M${medians.map(written).join("L")}`} />}
          </g>
        );
      }}
    </ChartFrame>
  );
}
