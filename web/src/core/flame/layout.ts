/** The places of a tree's nodes: where each begins and ends, in samples from the left. */

import { at, type FlameTree } from "./tree.ts";

export interface Layout {
  tree: FlameTree;
  left: Float64Array;
  right: Float64Array;
}

/** Places children side by side at the left of their parent; the rest of its width is its own samples. */
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

/** The node or its nearest ancestor with a width: a node has none on a side without samples of it. */
export function visible({ tree, left, right }: Layout, node: number): number {
  let shown = node;
  while (shown > 0 && at(right, shown) <= at(left, shown)) {
    shown = at(tree.parent, shown);
  }
  return shown;
}

export type Direction = "up" | "down" | "left" | "right";

/** The node beside another; down is the widest child. Null where there is none within the window. */
export function neighbour(layout: Layout, node: number, direction: Direction, window: number): number | null {
  const { tree, left, right } = layout;
  const width = (other: number) => at(right, other) - at(left, other);
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

/** Stands for a run of nodes in `Cells.node`. */
export const RUN = -1;

/** Rectangles of fewer pixels are drawn as runs. */
const NARROWEST = 0.5;

/** The part of a graph that is seen: from and to so many samples from the left, over so many pixels. */
export interface View {
  start: number;
  end: number;
  pixels: number;
  firstRow: number;
  endRow: number;
}

/** Rectangles in columns, which are filled anew for each frame; there are never more of them than nodes. */
export class Cells {
  count = 0;
  readonly node: Int32Array;
  readonly row: Uint16Array;
  readonly left: Float64Array;
  readonly right: Float64Array;

  constructor(capacity: number) {
    this.node = new Int32Array(capacity);
    this.row = new Uint16Array(capacity);
    this.left = new Float64Array(capacity);
    this.right = new Float64Array(capacity);
  }

  collect(layout: Layout, view: View): void {
    this.count = 0;
    const endRow = Math.min(view.endRow, layout.tree.rows.length - 1);
    for (let row = Math.max(0, view.firstRow); row < endRow; row++) {
      this.collectRow(layout, view, row);
    }
  }

  private collectRow({ tree, left, right }: Layout, view: View, row: number): void {
    const scale = view.pixels / (view.end - view.start);
    const narrow = NARROWEST / scale;
    const end = at(tree.rows, row + 1);
    let node = firstEndingAfter(right, at(tree.rows, row), end, view.start);
    while (node < end && at(left, node) < view.end) {
      const from = at(left, node);
      let to = at(right, node);
      if (to - from >= narrow) {
        this.put(node, row, (from - view.start) * scale, (to - view.start) * scale);
        node++;
        continue;
      }
      const first = node;
      node = firstEndingAfter(right, node + 1, end, from + narrow);
      to = Math.max(from + narrow, at(right, node - 1));
      while (node < end && at(left, node) <= to && at(right, node) - at(left, node) < narrow) {
        node = firstEndingAfter(right, node + 1, end, to + narrow);
        to = Math.max(to, at(right, node - 1));
      }
      if (at(right, node - 1) > at(left, first)) {
        this.put(RUN, row, (from - view.start) * scale, (to - view.start) * scale);
      }
    }
  }

  private put(node: number, row: number, left: number, right: number): void {
    const place = this.count++;
    this.node[place] = node;
    this.row[place] = row;
    this.left[place] = left;
    this.right[place] = right;
  }
}
