/** What belongs to the sides of a comparison; a run alone has a head only. */

import type { CasePictures, StackFrame, StackTree } from "./records.ts";

export type SideName = "base" | "head";

export type Sides<Value> = { [side in SideName]?: Value };

/** The sampled stacks of a side with the functions that their numbers stand for. */
export type Stacks = StackTree & { frames: StackFrame[] };

/** Share of requests and the microseconds within which they were answered, ascending; share 1 is the maximum. */
export type LatencyPoint = Curve<CasePictures["latency"]>;

/** Seconds and requests per second of a slice, or of several; the seconds are those of both sides together. */
export type ThroughputPoint = Curve<CasePictures["throughput"]>;

type Curve<Curves> = Exclude<Curves, null> extends Sides<Array<infer Point>> ? Point : never;

/** The sides that there is something of, base first. */
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
