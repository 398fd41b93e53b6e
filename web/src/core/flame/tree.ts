/** Stacks of base and head as one tree, in which a node is the same path of functions on both sides. */

import { present, type SideName, type Sides, type Stacks } from "../sides.ts";

/** A column of numbers; `at` reads within its bounds only. */
export type Column = Int32Array | Float64Array | Uint16Array | Uint8Array | number[];

export function at(column: Column, index: number): number {
  return column[index] as number;
}

export interface FlameFrame {
  function: string;
  file: string | null;
  /** Null for a thread, and for all of them. */
  object: string | null;
}

export interface SideWeights {
  own: Float64Array;
  inclusive: Float64Array;
  /** The variances of both, as of counts of a Poisson process: where samples are not weighted, the counts. */
  ownVariance: Float64Array;
  variance: Float64Array;
  /** All samples of this side, threads that are not shown included: the base of shares. */
  total: number;
  /** What a sample adds to the variance, in the mean. */
  variancePerSample: number;
  nanoseconds: number | null;
  /** The relative standard error of the nanoseconds. */
  uncertainty: number;
  /** Whether samples are nanoseconds off the processor. */
  isOffProcessor: boolean;
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

const OFF_PROCESSOR = "off-cpu";

/** Whether the stacks are of the time off the processor: their samples are nanoseconds. */
export function isOffProcessor(stacks: Stacks): boolean {
  return stacks.event === OFF_PROCESSOR;
}

/** The names of all threads, the busiest first. */
export function threadNames(sides: Sides<Stacks>): string[] {
  const samples = new Map<string, number>();
  for (const [, stacks] of present(sides)) {
    stacks.nodes.thread.forEach((thread, node) => {
      const name = stacks.threads[thread] ?? "";
      samples.set(name, (samples.get(name) ?? 0) + at(stacks.nodes.samples, node));
    });
  }
  return [...samples].sort((one, other) => other[1] - one[1]).map(([name]) => name);
}

/** Merges both sides: the stacks of one thread, or of all threads, each below its name. */
export function mergedTree(sides: Sides<Stacks>, thread: string | null): FlameTree {
  const builder = new TreeBuilder({ function: thread ?? "all threads", file: null, object: null });
  for (const [side, stacks] of present(sides)) {
    add(builder, side, stacks, thread);
  }
  return builder.finished((side) => {
    const stacks = sides[side] as Stacks;
    const total = sum(stacks.nodes.samples);
    return {
      total,
      variancePerSample: stacks.variance === undefined || total === 0 ? 1 : sum(stacks.variance) / total,
      nanoseconds: stacks.cpu_ns_per_op,
      uncertainty: stacks.cpu_error,
      isOffProcessor: isOffProcessor(stacks),
    };
  });
}

function sum(values: number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

function add(builder: TreeBuilder, side: SideName, stacks: Stacks, wanted: string | null): void {
  const frames = stacks.frames.map((frame) => builder.frame(frame));
  const { thread, parent, frame, samples } = stacks.nodes;
  const variance = stacks.variance ?? samples;
  const places = new Int32Array(parent.length);
  builder.begin(side);
  for (let node = 0; node < parent.length; node++) {
    const name = stacks.threads[at(thread, node)] ?? "";
    if (wanted !== null && name !== wanted) {
      continue;
    }
    let above = 0;
    if (at(parent, node) >= 0) {
      above = at(places, at(parent, node));
    } else if (wanted === null) {
      above = builder.child(0, builder.frame({ function: name, file: null, object: null }));
    }
    const place = builder.child(above, at(frames, at(frame, node)));
    builder.count(side, place, at(samples, node), at(variance, node));
    builder.markInlined(place, stacks.frames[at(frame, node)]?.inlined ?? false);
    places[node] = place;
  }
}

/** What sets frames apart: function and file, or object where the file is unknown. */
export function frameKey({ function: name, file, object }: FlameFrame): string {
  return JSON.stringify([name, file, file === null ? object : true]);
}

/** Whether a frame is a function's, not a thread's. */
export function isFunction(frame: FlameFrame): boolean {
  return frame.object !== null;
}

function inclusive(tree: FlameTree, own: Float64Array): Float64Array {
  const sums = own.slice();
  for (let node = sums.length - 1; node > 0; node--) {
    const above = at(tree.parent, node);
    sums[above] = at(sums, above) + at(sums, node);
  }
  return sums;
}

/** What is known of a side as a whole. */
export type SideTotals = Pick<
  SideWeights,
  "total" | "variancePerSample" | "nanoseconds" | "uncertainty" | "isOffProcessor"
>;

/** Builds a tree from paths; nodes are numbered in the order of their addition, node 0 is the root. */
export class TreeBuilder {
  private readonly frames: FlameFrame[] = [];
  private readonly frameNumbers = new Map<string, number>();
  private readonly below: Map<number, number>[] = [];
  private readonly frameOf: number[] = [];
  private readonly inlined: number[] = [];
  private readonly own: Sides<number[]> = {};
  private readonly variance: Sides<number[]> = {};

  constructor(root: FlameFrame) {
    this.node(this.frame(root));
  }

  /** The number of a frame; it is the same for frames with the same key. */
  frame(wanted: FlameFrame): number {
    const key = frameKey(wanted);
    const known = this.frameNumbers.get(key);
    if (known !== undefined) {
      return known;
    }
    this.frameNumbers.set(key, this.frames.length);
    const { function: name, file, object } = wanted;
    return this.frames.push({ function: name, file, object }) - 1;
  }

  child(parent: number, frame: number): number {
    const siblings = this.below[parent] as Map<number, number>;
    const known = siblings.get(frame);
    if (known !== undefined) {
      return known;
    }
    const child = this.node(frame);
    siblings.set(frame, child);
    return child;
  }

  /** Has the tree a side, which may be without samples. */
  begin(side: SideName): void {
    this.own[side] ??= [];
    this.variance[side] ??= [];
  }

  count(side: SideName, node: number, samples: number, variance: number): void {
    const own = this.own[side] as number[];
    const variances = this.variance[side] as number[];
    own[node] = (own[node] ?? 0) + samples;
    variances[node] = (variances[node] ?? 0) + variance;
  }

  markInlined(node: number, isInlined: boolean): void {
    this.inlined[node] = at(this.inlined, node) | Number(isInlined);
  }

  /** The tree numbered by depth; siblings are in the order of their names, whatever their widths. */
  finished(totals: (side: SideName) => SideTotals): FlameTree {
    const size = this.frameOf.length;
    const names = this.namesOrder();
    const order = new Int32Array(size);
    const parent = new Int32Array(size).fill(-1);
    const depth = new Uint16Array(size);
    const children = new Int32Array(size + 1);
    const rows = [0];
    let placed = 1;
    for (let node = 0; node < size; node++) {
      children[node] = placed;
      if (node > 0 && at(depth, node) !== at(depth, node - 1)) {
        rows.push(node);
      }
      const below = [...(this.below[at(order, node)] as Map<number, number>)];
      below.sort((one, other) => at(names, one[0]) - at(names, other[0]));
      for (const [, child] of below) {
        order[placed] = child;
        parent[placed] = node;
        depth[placed] = at(depth, node) + 1;
        placed++;
      }
    }
    children[size] = placed;
    const tree: FlameTree = {
      frames: this.frames,
      frame: order.map((node) => at(this.frameOf, node)),
      parent,
      depth,
      inlined: Uint8Array.from(order, (node) => at(this.inlined, node)),
      children,
      rows: Int32Array.from([...rows, size]),
      weights: {},
    };
    for (const [side, counted] of present(this.own)) {
      const own = Float64Array.from(order, (node) => counted[node] ?? 0);
      const ownVariance = Float64Array.from(order, (node) => this.variance[side]?.[node] ?? 0);
      tree.weights[side] = {
        own,
        ownVariance,
        inclusive: inclusive(tree, own),
        variance: inclusive(tree, ownVariance),
        ...totals(side),
      };
    }
    return tree;
  }

  private node(frame: number): number {
    this.below.push(new Map());
    this.inlined.push(0);
    return this.frameOf.push(frame) - 1;
  }

  private namesOrder(): Int32Array {
    const names = this.frames.map((frame) => `${frame.function}\u0000${frame.file ?? ""}`);
    const sorted = [...names.keys()].sort((one, other) =>
      (names[one] ?? "") < (names[other] ?? "") ? -1 : 1,
    );
    const places = new Int32Array(names.length);
    sorted.forEach((frame, place) => {
      places[frame] = place;
    });
    return places;
  }
}
