/** The samples of each function, its own and with what it calls, and how its cost changed. */

import { present, type Sides } from "../sides.ts";
import { type Cost, changeOf, costs, reachOf, type Weighed } from "./difference.ts";
import { outermostNodes } from "./sandwich.ts";
import { at, type FlameTree, isFunction } from "./tree.ts";

/** The object of the frames that stand for what is too small to be shown; they are no functions. */
export const PRUNED = "[other]";

export interface FunctionCost {
  /** The place of the function among the frames, of which several may have the same name and file. */
  frame: number;
  function: string;
  file: string | null;
  /** The program or library, which is shown where the file is unknown. */
  object: string | null;
  /** Samples by side: those in the function itself, and those in it or below it. */
  self: Sides<number>;
  total: Sides<number>;
  /** Of the cost of the function itself; null where there is one side only. */
  change: FunctionChange | null;
}

export interface FunctionChange {
  change: number;
  /** How far its interval reaches to either side. */
  reach: number;
  /** Whether the interval does not include 0. */
  isSure: boolean;
}

export type FunctionOrder = "function" | "self" | "total" | "change" | "cases";

export function functionCosts(tree: FlameTree): FunctionCost[] {
  const outermost = outermostNodes(tree);
  const functions = tree.frames.map(
    (frame, place): FunctionCost => ({ ...frame, frame: place, self: {}, total: {}, change: null }),
  );
  const variances = { base: new Float64Array(functions.length), head: new Float64Array(functions.length) };
  for (const [side, weights] of present(tree.weights)) {
    for (const { self, total } of functions) {
      self[side] = 0;
      total[side] = 0;
    }
    tree.frame.forEach((frame, node) => {
      const { self, total } = functions[frame] as FunctionCost;
      self[side] = (self[side] ?? 0) + at(weights.own, node);
      total[side] = (total[side] ?? 0) + at(outermost, node) * at(weights.inclusive, node);
      variances[side][frame] = at(variances[side], frame) + at(weights.ownVariance, node);
    });
  }
  const { base, head } = tree.weights;
  if (base && head) {
    const cost: Cost = costs(base, head);
    for (const { self, frame } of functions) {
      const before: Weighed = { samples: self.base ?? 0, variance: at(variances.base, frame) };
      const after: Weighed = { samples: self.head ?? 0, variance: at(variances.head, frame) };
      const change = changeOf(before.samples, after.samples, [base, head], cost);
      const reach = reachOf(before, after, [base, head], cost);
      (functions[frame] as FunctionCost).change = { change, reach, isSure: Math.abs(change) > reach };
    }
  }
  const hasSamples = ({ total }: FunctionCost) => (total.base ?? 0) > 0 || (total.head ?? 0) > 0;
  return functions.filter((entry) => {
    const known = tree.frames[entry.frame];
    return known !== undefined && isFunction(known) && known.object !== PRUNED && hasSamples(entry);
  });
}

/** The functions in an order, the costlier or the more changed first; `casesOf` is in how many cases one has samples. */
export function sortedFunctions(
  entries: FunctionCost[],
  order: FunctionOrder,
  reversed: boolean,
  casesOf: (entry: FunctionCost) => number = () => 0,
): FunctionCost[] {
  const size = (entry: FunctionCost) => {
    if (order === "cases") {
      return casesOf(entry);
    }
    return order === "change" ? Math.abs(entry.change?.change ?? 0) : largest(entry, order);
  };
  const result = [...entries].sort((left, right) =>
    order === "function"
      ? left.function.localeCompare(right.function, "en", { numeric: true })
      : size(right) - size(left),
  );
  return reversed ? result.reverse() : result;
}

function largest(entry: FunctionCost, order: FunctionOrder): number {
  const samples = order === "total" ? entry.total : entry.self;
  return Math.max(samples.base ?? 0, samples.head ?? 0);
}
