import type { SideName } from "../pictures.ts";
import { at } from "./columns.ts";
import type { FlameFrame, FlameTree } from "./tree.ts";

/** A tree to which paths are added, numbered as they come; node 0 is the root. */
export class Growing {
  private readonly frames: FlameFrame[] = [];
  private readonly frameNumbers = new Map<string, number>();
  private readonly below: Map<number, number>[] = [];
  private readonly frameOf: number[] = [];
  private readonly inlined: number[] = [];
  private readonly own = { base: [] as number[], head: [] as number[] };
  private order = new Int32Array(0);

  constructor(root: string) {
    this.node(this.frame(root, null, null));
  }

  /** The number of a frame; those of one function in one file are one, without a file in one object; threads are apart. */
  frame(name: string, file: string | null, object: string | null): number {
    const key = JSON.stringify([name, file, file === null ? object : true]);
    const known = this.frameNumbers.get(key);
    if (known !== undefined) {
      return known;
    }
    this.frameNumbers.set(key, this.frames.length);
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

  count(side: SideName, node: number, samples: number, inlined: boolean): void {
    this.own[side][node] = at(this.own[side], node) + samples;
    this.inlined[node] = at(this.inlined, node) | Number(inlined);
  }

  /** The tree numbered by depth; siblings are in the order of their names, whatever their widths. */
  ordered(): FlameTree {
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
    this.order = order;
    return {
      frames: this.frames,
      frame: order.map((node) => at(this.frameOf, node)),
      parent,
      depth,
      inlined: Uint8Array.from(order, (node) => at(this.inlined, node)),
      children,
      rows: Int32Array.from([...rows, size]),
      weights: {},
    };
  }

  /** The samples that end in each node, in the order of the tree made last. */
  ownOf(side: SideName): Float64Array {
    return Float64Array.from(this.order, (node) => at(this.own[side], node));
  }

  private node(frame: number): number {
    this.below.push(new Map());
    this.own.base.push(0);
    this.own.head.push(0);
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
