/** A figure over sizes of data. */

import { type Axis, linear, logarithmic } from "../charts/axes.ts";
import { ChartFrame } from "../charts/ChartFrame.tsx";
import { count } from "../numbers.ts";
import type { SideName } from "../sides.ts";
import type { SizedValue } from "./snapshot.ts";

/** What is drawn of a side. */
export interface SideValues {
  side: SideName;
  repetitions: SizedValue[];
  medians: SizedValue[];
}

interface Properties {
  title: string;
  unit: string;
  /** What the sizes are of. */
  sizes?: string;
  /** One side, or base and head. */
  sides: SideValues[];
}

/** From so many times the least on, figures are shown on a logarithmic axis: of sides on two axes, none could be compared. */
const WIDE_RANGE = 20;

/** Each repetition as a point, and a line through the medians of the sizes; axes begin at 0 but where figures differ widely. */
export function SizeChart({ title, unit, sizes = "resident memory", sides }: Properties) {
  const points = sides
    .flatMap(({ side, repetitions }) => repetitions.map((value) => ({ side, value })))
    .sort((left, right) => left.value[0] - right.value[0]);
  if (points.length === 0) {
    return null;
  }
  const name = (side: SideName) => (sides.length > 1 ? `${side} ` : "");
  const medians = ({ side, medians: values }: SideValues) =>
    name(side) + values.map(([gib, value]) => `${count(value)} ${unit} at ${count(gib)} GiB`).join(", ");
  return (
    <ChartFrame
      title={title}
      summary={`${title}: ${sides.map(medians).join("; ")}`}
      horizontal={linear([0, ...points.map(({ value: [gib] }) => gib)], count)}
      vertical={verticalAxis(points.map(({ value: [, value] }) => value))}
      labels={{ horizontal: `${sizes}, GiB`, vertical: unit }}
      sides={sides.map(({ side }) => side)}
      readout={{
        at: points.map(({ value: [gib] }) => gib),
        text: (place) => {
          const point = points[place];
          return point === undefined
            ? ""
            : `${name(point.side)}${count(point.value[0])} GiB: ${count(point.value[1])} ${unit}`;
        },
      }}
    >
      {(locate) => {
        const written = ([gib, value]: SizedValue) => {
          const { x, y } = locate(gib, value);
          return `${x.toFixed(1)} ${y.toFixed(1)}`;
        };
        return sides.map((drawn) => (
          <g key={drawn.side} class={drawn.side}>
            <path class="points" d={drawn.repetitions.map((point) => `M${written(point)}h0`).join("")} />
            {drawn.medians.length > 1 && <path class="line" d={`M${drawn.medians.map(written).join("L")}`} />}
          </g>
        ));
      }}
    </ChartFrame>
  );
}

function verticalAxis(values: number[]): Axis {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least > 0 && most > WIDE_RANGE * least ? logarithmic(values, count) : linear([0, ...values], count);
}
