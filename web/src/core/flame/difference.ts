/** How the cost of each node changed from base to head. */

import { at, type FlameTree, type SideWeights } from "./tree.ts";

/** Costs are nanoseconds per request where both sides know theirs, else shares of all samples. */
export type Unit = "nanoseconds" | "share";

export interface Cost {
  unit: Unit;
  /** What all samples of a side together cost. */
  base: number;
  head: number;
}

export interface Difference {
  unit: Unit;
  /** Of the inclusive cost of each node. */
  change: Float64Array;
  /** 1 where the change is significant for this number of samples. */
  sure: Uint8Array;
  /** The largest significant change. */
  largest: number;
}

/** Changes of fewer standard errors are not significant. */
const STANDARD_ERRORS = 3;

export function costs(base: SideWeights, head: SideWeights): Cost {
  return base.nanoseconds === null || head.nanoseconds === null
    ? { unit: "share", base: 1, head: 1 }
    : { unit: "nanoseconds", base: base.nanoseconds, head: head.nanoseconds };
}

/** The change of cost of a node that has these samples on the two sides. */
export function changeOf(base: number, head: number, sides: [SideWeights, SideWeights], cost: Cost): number {
  return shareOf(head, sides[1]) * cost.head - shareOf(base, sides[0]) * cost.base;
}

export function isSure(base: number, head: number, sides: [SideWeights, SideWeights], cost: Cost): boolean {
  const error = Math.hypot(
    errorOf(base, sides[0]) * cost.base,
    errorOf(head, sides[1]) * cost.head,
    costErrorOf(base, sides[0], cost.unit) * cost.base,
    costErrorOf(head, sides[1], cost.unit) * cost.head,
  );
  return Math.abs(changeOf(base, head, sides, cost)) > STANDARD_ERRORS * error;
}

/** The difference of all nodes; null where there is one side only. */
export function difference(tree: FlameTree): Difference | null {
  const { base, head } = tree.weights;
  if (!base || !head) {
    return null;
  }
  const cost = costs(base, head);
  const sides: [SideWeights, SideWeights] = [base, head];
  const change = new Float64Array(tree.frame.length);
  const sure = new Uint8Array(tree.frame.length);
  let largest = 0;
  for (let node = 0; node < change.length; node++) {
    const [before, after] = [at(base.inclusive, node), at(head.inclusive, node)];
    change[node] = changeOf(before, after, sides, cost);
    if (isSure(before, after, sides, cost)) {
      sure[node] = 1;
      largest = Math.max(largest, Math.abs(at(change, node)));
    }
  }
  return { unit: cost.unit, change, sure, largest };
}

export function shareOf(samples: number, side: SideWeights): number {
  return side.total > 0 ? samples / side.total : 0;
}

/** The standard error of a node's cost that is due to the uncertainty of its side's total cost. */
function costErrorOf(samples: number, side: SideWeights, unit: Unit): number {
  return unit === "nanoseconds" ? shareOf(samples, side) * side.uncertainty : 0;
}

/** The standard error of a share; a node without samples counts as one with a single sample. */
function errorOf(samples: number, side: SideWeights): number {
  const share = shareOf(Math.max(1, samples), side);
  return side.total > 0 ? Math.sqrt((share * Math.max(0, 1 - share)) / side.total) : 0;
}
