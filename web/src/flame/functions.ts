/** The functions of a tree, as a table. */

import { present, type SideName, type Sides } from "../pictures.ts";
import { at } from "./columns.ts";
import { type Cost, changeOf, costs, isSure } from "./difference.ts";
import { type FlameTree, isFunction } from "./tree.ts";

export interface FunctionCost {
  function: string;
  file: string | null;
  /** Samples of each side there is. */
  own: Sides<number>;
  inclusive: Sides<number>;
  /** Of its own cost; null where there is one side only. */
  change: number | null;
  sure: boolean;
}

export type FunctionOrder = "function" | "own" | "inclusive" | "change";

export function functionCosts(tree: FlameTree): FunctionCost[] {
  const outermost = outermostNodes(tree);
  const functions = tree.frames.map(
    (frame): FunctionCost => ({ ...frame, own: {}, inclusive: {}, change: null, sure: false }),
  );
  for (const [side, weights] of present(tree.weights)) {
    tree.frame.forEach((frame, node) => {
      const one = functions[frame] as FunctionCost;
      one.own[side] = (one.own[side] ?? 0) + at(weights.own, node);
      one.inclusive[side] = (one.inclusive[side] ?? 0) + at(outermost, node) * at(weights.inclusive, node);
    });
  }
  const { base, head } = tree.weights;
  if (base && head) {
    const cost: Cost = costs(base, head);
    for (const one of functions) {
      const [before, after] = [one.own.base ?? 0, one.own.head ?? 0];
      one.change = changeOf(before, after, [base, head], cost);
      one.sure = isSure(before, after, [base, head], cost);
    }
  }
  return functions.filter((_, frame) => {
    const known = tree.frames[frame];
    return known !== undefined && isFunction(known);
  });
}

/** 1 for a node above which there is none of the same function: what is inclusive counts a recursion once. */
function outermostNodes(tree: FlameTree): Uint8Array {
  return Uint8Array.from(tree.frame, (frame, node) => {
    let above = at(tree.parent, node);
    while (above >= 0 && at(tree.frame, above) !== frame) {
      above = at(tree.parent, above);
    }
    return Number(above < 0);
  });
}

/** The functions in an order, the costlier or the more changed first. */
export function sortedFunctions(
  costs: FunctionCost[],
  order: FunctionOrder,
  reversed: boolean,
): FunctionCost[] {
  const result = [...costs].sort((one, other) =>
    order === "function"
      ? one.function.localeCompare(other.function, "en", { numeric: true })
      : size(other, order) - size(one, order),
  );
  return reversed ? result.reverse() : result;
}

function size(one: FunctionCost, order: "own" | "inclusive" | "change"): number {
  if (order === "change") {
    return Math.abs(one.change ?? 0);
  }
  const sides: SideName[] = ["base", "head"];
  return Math.max(...sides.map((side) => one[order][side] ?? 0));
}
