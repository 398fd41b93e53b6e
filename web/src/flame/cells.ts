/** The rectangles that are seen: those of a window, and of the many too narrow to see one for each run of them. */

import { at } from "./columns.ts";
import { firstEndingAfter, type Layout } from "./layout.ts";

/** The number that stands for a run of nodes in the place of a node. */
export const RUN = -1;

/** Narrower rectangles are drawn as runs. */
const NARROWEST = 0.5;

/** What is shown: from and to so many samples from the left, over so many pixels. */
export interface View {
  start: number;
  end: number;
  pixels: number;
  firstRow: number;
  endRow: number;
}

/** Rectangles in columns that are filled anew for each picture; there are never more of them than nodes. */
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
