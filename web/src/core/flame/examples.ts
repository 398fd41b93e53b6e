/** Stacks for tests. */

import type { Stacks } from "../sides.ts";

/** A tree from lines of `thread;function;function samples`, one node per function of each line. */
export function stacks(lines: string[], cost: number | null = null, error = 0): Stacks {
  const tree: Stacks = {
    event: "cpu-clock",
    samples: 0,
    lost: 0,
    cpu_ns_per_op: cost,
    cpu_error: error,
    threads: [],
    frames: [],
    nodes: { thread: [], parent: [], frame: [], samples: [] },
  };
  const { nodes, threads, frames } = tree;
  for (const line of lines) {
    const [path = "", samples = ""] = line.split(" ");
    const [thread = "", ...functions] = path.split(";");
    const number = threads.includes(thread) ? threads.indexOf(thread) : threads.push(thread) - 1;
    functions.forEach((name, depth) => {
      const known = frames.findIndex((frame) => frame.function === name);
      const [object, inlined] = [name.startsWith("k_") ? "[kernel]" : "server", name.endsWith("_in")];
      const frame =
        known >= 0 ? known : frames.push({ function: name, file: `${name}.c`, object, inlined }) - 1;
      nodes.parent.push(depth === 0 ? -1 : nodes.parent.length - 1);
      nodes.thread.push(number);
      nodes.frame.push(frame);
      nodes.samples.push(depth === functions.length - 1 ? Number(samples) : 0);
    });
    tree.samples += Number(samples);
  }
  return tree;
}
