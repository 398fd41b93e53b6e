/**
 * How the cost of each node changed from base to head, and whether by more than chance.
 *
 * A node's cost is its share of the samples times what a request costs: c = p C, p = k / n. Its standard error is
 * that of a product of independent estimates, to the first order (the delta method; L. A. Goodman, "On the exact
 * variance of products", Journal of the American Statistical Association 55, 1960):
 *
 *     error(c)^2 = (C error(p))^2 + (c error(C) / C)^2
 *
 * error(C) / C is `uncertainty`, from the interval of the timed change. error(p) is binomial, p (1 - p) / n. Samples of
 * several cases are weighted: k becomes a sum of weights and its variance the sum of their squares (G. Bohm, G. Zech,
 * "Statistics of weighted Poisson events and its applications", Nuclear Instruments and Methods A 748, 2014), so that
 *
 *     error(p)^2 = variance(k) (1 - p) / n^2
 *
 * which for weights of 1 is the binomial one. The errors of both sides are independent; the interval of the change is
 * the change, plus and minus three of its standard errors. A change whose interval includes 0 is shown as none.
 */

import { at, type FlameTree, type SideWeights } from "./tree.ts";

/** Costs are nanoseconds per request where both sides know theirs, else shares of all samples. */
export type Unit = "nanoseconds" | "share";

export interface Cost {
  unit: Unit;
  /** What all samples of a side together cost. */
  base: number;
  head: number;
}

/** Samples with their variance. */
export interface Weighed {
  samples: number;
  variance: number;
}

export interface Difference {
  unit: Unit;
  /** Of the inclusive cost of each node. */
  change: Float64Array;
  /** How far the interval of the change reaches to either side. */
  reach: Float64Array;
  /** 1 where the interval of the change does not include 0. */
  sure: Uint8Array;
  /** The largest significant change. */
  largest: number;
}

/** An interval reaches so many standard errors to either side: 99.7 % of a normal distribution lie within. */
const STANDARD_ERRORS = 3;

export function costs(base: SideWeights, head: SideWeights): Cost {
  return base.nanoseconds === null || head.nanoseconds === null
    ? { unit: "share", base: 1, head: 1 }
    : { unit: "nanoseconds", base: base.nanoseconds, head: head.nanoseconds };
}

/** The change of cost of what has these samples on the two sides. */
export function changeOf(base: number, head: number, sides: [SideWeights, SideWeights], cost: Cost): number {
  return shareOf(head, sides[1]) * cost.head - shareOf(base, sides[0]) * cost.base;
}

/** How far the interval of a change reaches to either side. */
export function reachOf(base: Weighed, head: Weighed, sides: [SideWeights, SideWeights], cost: Cost): number {
  return (
    STANDARD_ERRORS *
    Math.hypot(
      errorOf(base, sides[0]) * cost.base,
      errorOf(head, sides[1]) * cost.head,
      costErrorOf(base.samples, sides[0], cost.unit) * cost.base,
      costErrorOf(head.samples, sides[1], cost.unit) * cost.head,
    )
  );
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
  const reach = new Float64Array(tree.frame.length);
  const sure = new Uint8Array(tree.frame.length);
  let largest = 0;
  for (let node = 0; node < change.length; node++) {
    const before = { samples: at(base.inclusive, node), variance: at(base.variance, node) };
    const after = { samples: at(head.inclusive, node), variance: at(head.variance, node) };
    change[node] = changeOf(before.samples, after.samples, sides, cost);
    reach[node] = reachOf(before, after, sides, cost);
    if (Math.abs(at(change, node)) > at(reach, node)) {
      sure[node] = 1;
      largest = Math.max(largest, Math.abs(at(change, node)));
    }
  }
  return { unit: cost.unit, change, reach, sure, largest };
}

export function shareOf(samples: number, side: SideWeights): number {
  return side.total > 0 ? samples / side.total : 0;
}

/** The standard error of a cost that is due to the uncertainty of its side's total cost. */
function costErrorOf(samples: number, side: SideWeights, unit: Unit): number {
  return unit === "nanoseconds" ? shareOf(samples, side) * side.uncertainty : 0;
}

/** The standard error of a share; what has no samples counts as if it had one. */
function errorOf({ samples, variance }: Weighed, side: SideWeights): number {
  const { total, variancePerSample } = side;
  const share = shareOf(Math.max(1, samples), side);
  return total > 0 ? Math.sqrt(Math.max(variance, variancePerSample) * Math.max(0, 1 - share)) / total : 0;
}
