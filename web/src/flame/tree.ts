/** Stacks of base and head as one tree, in which a node is the same path of functions on both sides. */

import { present, type SideName, type Sides, type StackTree } from "../pictures.ts";
import { at } from "./columns.ts";
import { Growing } from "./growing.ts";

export interface FlameFrame {
  function: string;
  file: string | null;
  /** Null for a thread, and for all of them. */
  object: string | null;
}

export interface SideWeights {
  own: Float64Array;
  inclusive: Float64Array;
  /** All samples of this side, those of threads that are not shown too: what shares are of. */
  total: number;
  nanoseconds: number | null;
  /** The standard error of the nanoseconds, as a part of them. */
  uncertainty: number;
}

/** Nodes are numbered by depth, then from left to right: a row is a range, and so are a node's children. */
export interface FlameTree {
  frames: FlameFrame[];
  frame: Int32Array;
  parent: Int32Array;
  depth: Uint16Array;
  inlined: Uint8Array;
  /** Where a node's children begin; they end where those of the next node begin. */
  children: Int32Array;
  /** Where a row begins; it ends where the next begins. */
  rows: Int32Array;
  weights: Sides<SideWeights>;
}

/** The names of all threads, the busiest first. */
export function threadNames(sides: Sides<StackTree>): string[] {
  const samples = new Map<string, number>();
  for (const [, stacks] of present(sides)) {
    stacks.nodes.thread.forEach((thread, node) => {
      const name = stacks.threads[thread] ?? "";
      samples.set(name, (samples.get(name) ?? 0) + at(stacks.nodes.samples, node));
    });
  }
  return [...samples].sort((one, other) => other[1] - one[1]).map(([name]) => name);
}

/** Merges both sides; with a thread only its stacks, else each thread's beneath its name. */
export function mergedTree(sides: Sides<StackTree>, thread: string | null): FlameTree {
  const growing = new Growing(thread ?? "all threads");
  for (const [side, stacks] of present(sides)) {
    add(growing, side, stacks, thread);
  }
  const tree = growing.ordered();
  for (const [side, stacks] of present(sides)) {
    tree.weights[side] = {
      own: growing.ownOf(side),
      inclusive: inclusive(tree, growing.ownOf(side)),
      total: stacks.nodes.samples.reduce((sum, samples) => sum + samples, 0),
      nanoseconds: stacks.cpu_ns_per_op,
      uncertainty: stacks.cpu_error,
    };
  }
  return tree;
}

function add(growing: Growing, side: SideName, stacks: StackTree, wanted: string | null): void {
  const frames = stacks.frames.map((frame) => growing.frame(frame.function, frame.file, frame.object));
  const { thread, parent, frame, samples } = stacks.nodes;
  const places = new Int32Array(parent.length);
  for (let node = 0; node < parent.length; node++) {
    const name = stacks.threads[at(thread, node)] ?? "";
    if (wanted !== null && name !== wanted) {
      continue;
    }
    let above = 0;
    if (at(parent, node) >= 0) {
      above = at(places, at(parent, node));
    } else if (wanted === null) {
      above = growing.child(0, growing.frame(name, null, null));
    }
    const place = growing.child(above, at(frames, at(frame, node)));
    growing.count(side, place, at(samples, node), stacks.frames[at(frame, node)]?.inlined ?? false);
    places[node] = place;
  }
}

function inclusive(tree: FlameTree, own: Float64Array): Float64Array {
  const sums = own.slice();
  for (let node = sums.length - 1; node > 0; node--) {
    const above = at(tree.parent, node);
    sums[above] = at(sums, above) + at(sums, node);
  }
  return sums;
}

/** Whether a frame is a function's, not a thread's. */
export function isFunction(frame: FlameFrame): boolean {
  return frame.object !== null;
}
