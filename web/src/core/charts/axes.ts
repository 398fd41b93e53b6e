/** Axes of charts: the places of values, and the ticks. */

export interface Axis {
  low: number;
  high: number;
  /** 0 at the start of the axis to 1 at its end. */
  place: (value: number) => number;
  ticks: { value: number; label: string }[];
}

type Write = (value: number) => string;

/** A logarithmic axis that marks 1, 2 and 5 of each power of ten, or the powers alone if there are many. */
export function logarithmic(values: number[], write: Write): Axis {
  const positive = values.filter((value) => value > 0);
  const low = Math.log10(Math.min(...positive)) - 0.05;
  const high = Math.log10(Math.max(...positive)) + 0.05;
  const steps = high - low > 2.5 ? [1] : high - low > 1 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
  const ticks: Axis["ticks"] = [];
  for (let power = Math.floor(low); power <= high; power++) {
    for (const step of steps) {
      const value = step * 10 ** power;
      if (value >= 10 ** low && value <= 10 ** high) {
        ticks.push({ value, label: write(value) });
      }
    }
  }
  const place = (value: number) => (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low);
  return { low: 10 ** low, high: 10 ** high, place, ticks };
}

const FEWEST_STEPS = 4;

/** A linear axis over all of the values, marked at round numbers. */
export function linear(values: number[], write: Write): Axis {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const margin = (most - least) * 0.06 || Math.abs(most) * 0.1 || 1;
  const [low, high] = [least < 0 ? least - margin : Math.max(0, least - margin), most + margin];
  const rough = (high - low) / FEWEST_STEPS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([5, 2, 1].find((factor) => factor * power <= rough) ?? 1);
  const ticks: Axis["ticks"] = [];
  for (let count = Math.ceil(low / step); count * step <= high; count++) {
    ticks.push({ value: count * step, label: write(count * step) });
  }
  return { low, high, place: (value) => (value - low) / (high - low), ticks };
}
