/** Trees of the same samples from another side: who calls a function, what it calls, and the functions first. */

import { present, type SideName } from "../sides.ts";
import { at, type FlameFrame, type FlameTree, isFunction, type SideTotals, TreeBuilder } from "./tree.ts";

/** The nodes of a function that have no ancestor of the same function: their samples count a recursion once. */
export function outermostNodes(tree: FlameTree): Uint8Array {
  return Uint8Array.from(tree.frame, (frame, node) => {
    let above = at(tree.parent, node);
    while (above >= 0 && at(tree.frame, above) !== frame) {
      above = at(tree.parent, above);
    }
    return Number(above < 0);
  });
}

/** A function with all that it calls, merged over all stacks in which it is. */
export function calleesOf(tree: FlameTree, frame: number): FlameTree {
  const builder = new TreeBuilder(tree.frames[frame] as FlameFrame);
  const outermost = outermostNodes(tree);
  // Where the nodes of the new tree are that belong to those of the old one; -1 outside of the function.
  const places = new Int32Array(tree.frame.length).fill(-1);
  const numbers = numbersIn(builder, tree);
  const sides = begun(builder, tree);
  for (let node = 0; node < places.length; node++) {
    const above = at(tree.parent, node);
    const isRoot = at(tree.frame, node) === frame && at(outermost, node) === 1;
    if (!isRoot && (above < 0 || at(places, above) < 0)) {
      continue;
    }
    const place = isRoot ? 0 : builder.child(at(places, above), at(numbers, at(tree.frame, node)));
    places[node] = place;
    builder.markInlined(place, at(tree.inlined, node) === 1);
    for (const [side, weights] of sides) {
      builder.count(side, place, at(weights.own, node), at(weights.ownVariance, node));
    }
  }
  return builder.finished(totalsOf(tree));
}

/** A function with all that calls it: its children are its callers, which have the samples of its calls. */
export function callersOf(tree: FlameTree, frame: number): FlameTree {
  const builder = new TreeBuilder(tree.frames[frame] as FlameFrame);
  const outermost = outermostNodes(tree);
  const numbers = numbersIn(builder, tree);
  const sides = begun(builder, tree);
  for (let node = 0; node < tree.frame.length; node++) {
    if (at(tree.frame, node) !== frame || at(outermost, node) === 0) {
      continue;
    }
    builder.markInlined(0, at(tree.inlined, node) === 1);
    const place = withCallers(builder, tree, numbers, 0, node);
    for (const [side, weights] of sides) {
      builder.count(side, place, at(weights.inclusive, node), at(weights.variance, node));
    }
  }
  return builder.finished(totalsOf(tree));
}

/** All functions by their own samples, each with its callers. */
export function bottomUp(tree: FlameTree): FlameTree {
  const builder = new TreeBuilder({ function: "all functions", file: null, object: null });
  const numbers = numbersIn(builder, tree);
  const sides = begun(builder, tree);
  for (let node = 0; node < tree.frame.length; node++) {
    const hasOwn = sides.some(([, weights]) => at(weights.own, node) > 0);
    if (hasOwn) {
      const leaf = builder.child(0, at(numbers, at(tree.frame, node)));
      builder.markInlined(leaf, at(tree.inlined, node) === 1);
      const place = withCallers(builder, tree, numbers, leaf, node);
      for (const [side, weights] of sides) {
        builder.count(side, place, at(weights.own, node), at(weights.ownVariance, node));
      }
    }
  }
  return builder.finished(totalsOf(tree));
}

/** Adds the callers of a node below a place, the nearest first; returns the place of the outermost one. */
function withCallers(
  builder: TreeBuilder,
  tree: FlameTree,
  numbers: Int32Array,
  below: number,
  node: number,
): number {
  let place = below;
  for (let above = at(tree.parent, node); above >= 0; above = at(tree.parent, above)) {
    // The root is a thread, or all of them: it calls nothing.
    if (above > 0 || isFunction(tree.frames[at(tree.frame, above)] as FlameFrame)) {
      place = builder.child(place, at(numbers, at(tree.frame, above)));
      builder.markInlined(place, at(tree.inlined, above) === 1);
    }
  }
  return place;
}

/** The numbers that a builder gives to the frames of a tree. */
function numbersIn(builder: TreeBuilder, tree: FlameTree): Int32Array {
  return Int32Array.from(tree.frames, (known) => builder.frame(known));
}

function begun(builder: TreeBuilder, tree: FlameTree) {
  const sides = present(tree.weights);
  for (const [side] of sides) {
    builder.begin(side);
  }
  return sides;
}

/** The totals stay those of all samples: shares are of all, not of what the new tree has. */
function totalsOf(tree: FlameTree): (side: SideName) => SideTotals {
  return (side) => {
    const { total, variancePerSample, nanoseconds, uncertainty, isOffProcessor } = tree.weights[
      side
    ] as SideTotals;
    return { total, variancePerSample, nanoseconds, uncertainty, isOffProcessor };
  };
}
