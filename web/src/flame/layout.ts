/** Where the nodes of a tree lie: a node begins and ends at so many samples from the left. */

import { at } from "./columns.ts";
import type { FlameTree } from "./tree.ts";

export interface Layout {
  tree: FlameTree;
  left: Float64Array;
  right: Float64Array;
}

/** Places children one after the other at the left of their parent; what is right of them is the parent's own. */
export function laidOut(tree: FlameTree, inclusive: Float64Array): Layout {
  const left = new Float64Array(inclusive.length);
  const right = new Float64Array(inclusive.length);
  right[0] = at(inclusive, 0);
  for (let node = 0; node < inclusive.length; node++) {
    let place = at(left, node);
    for (let child = at(tree.children, node); child < at(tree.children, node + 1); child++) {
      left[child] = place;
      place += at(inclusive, child);
      right[child] = place;
    }
  }
  return { tree, left, right };
}

/** The first of the places from `low` up to `high` that ends after `edge`; `high` if none does. */
export function firstEndingAfter(right: Float64Array, low: number, high: number, edge: number): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (at(right, middle) > edge) {
      to = middle;
    } else {
      from = middle + 1;
    }
  }
  return from;
}

/** The node at so many samples from the left in a row. */
export function nodeAt({ tree, left, right }: Layout, row: number, place: number): number | null {
  if (row < 0 || row >= tree.rows.length - 1) {
    return null;
  }
  const end = at(tree.rows, row + 1);
  const node = firstEndingAfter(right, at(tree.rows, row), end, place);
  return node < end && at(left, node) <= place ? node : null;
}

/** The node or the nearest above it that is visible: one has no width where its side has no samples of it. */
export function visible({ tree, left, right }: Layout, node: number): number {
  let found = node;
  while (found > 0 && at(right, found) <= at(left, found)) {
    found = at(tree.parent, found);
  }
  return found;
}

export type Direction = "up" | "down" | "left" | "right";

/** The node beside another; down is the widest child. Null where there is none within the window. */
export function neighbour(layout: Layout, node: number, direction: Direction, window: number): number | null {
  const { tree, left, right } = layout;
  const width = (one: number) => at(right, one) - at(left, one);
  if (direction === "up") {
    return node > 0 ? at(tree.parent, node) : null;
  }
  if (direction === "down") {
    let widest: number | null = null;
    for (let child = at(tree.children, node); child < at(tree.children, node + 1); child++) {
      if (width(child) > (widest === null ? 0 : width(widest))) {
        widest = child;
      }
    }
    return widest;
  }
  const step = direction === "left" ? -1 : 1;
  const row = at(tree.depth, node);
  for (
    let other = node + step;
    other >= at(tree.rows, row) && other < at(tree.rows, row + 1);
    other += step
  ) {
    if (width(other) > 0) {
      return at(left, other) >= at(left, window) && at(right, other) <= at(right, window) ? other : null;
    }
  }
  return null;
}
