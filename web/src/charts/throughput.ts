/** Requests per second over time. */

import { count } from "../numbers.ts";
import { type Sides, type ThroughputPoint, told } from "../pictures.ts";

export function median(points: ThroughputPoint[]): number | null {
  const sorted = points.map(([, rate]) => rate).sort((one, other) => one - other);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}

export function rateLabel(rate: number): string {
  if (rate >= 1e6) {
    return `${count(rate / 1e6)} M`;
  }
  return rate >= 1e4 ? `${count(rate / 1e3)} k` : count(rate);
}

/** The numbers that a reader without the picture needs. */
export function throughputTold(sides: Sides<ThroughputPoint[]>): string {
  const parts = told(sides, (points) => {
    const rates = points.map(([, rate]) => rate);
    const [least, most] = [Math.min(...rates), Math.max(...rates)];
    return `median ${count(median(points))}, ${count(least)} to ${count(most)}`;
  });
  return `Requests per second: ${parts.join("; ")}`;
}
