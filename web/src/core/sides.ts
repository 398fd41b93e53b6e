/** Values by side of a comparison; a run has the side `head` only. */

import type { CasePictures, StackFrame, StackTree } from "./records.ts";

export type SideName = "base" | "head";

export type Sides<Value> = { [side in SideName]?: Value };

/**
 * The sampled stacks of a side, with the functions that `nodes.frame` indexes. Samples that are weighted have a
 * variance; that of counts is the counts themselves.
 */
export type Stacks = StackTree & { frames: StackFrame[]; variance?: number[] };

/** A share of requests and the microseconds in which they were answered; share 1 is the maximum. */
export type LatencyPoint = Curve<CasePictures["latency"]>;

/** Seconds and requests per second of one or several slices; the seconds count both sides' slices. */
export type ThroughputPoint = Curve<CasePictures["throughput"]>;

type Curve<Curves> = Exclude<Curves, null> extends Sides<Array<infer Point>> ? Point : never;

/** The sides that have a value, base first. */
export function present<Value>(sides: Sides<Value>): [SideName, Value][] {
  return (["base", "head"] as const).flatMap((side): [SideName, Value][] => {
    const value = sides[side];
    return value === undefined ? [] : [[side, value]];
  });
}

/** A text for each side, preceded by the side's name where there are two. */
export function sideTexts<Value>(sides: Sides<Value>, text: (value: Value) => string): string[] {
  const values = present(sides);
  return values.map(([side, value]) => (values.length > 1 ? `${side} ${text(value)}` : text(value)));
}
