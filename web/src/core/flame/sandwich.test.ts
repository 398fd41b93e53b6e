import { describe, expect, test } from "vitest";
import { difference } from "./difference.ts";
import { stacks } from "./examples.ts";
import { bottomUp, calleesOf, callersOf } from "./sandwich.ts";
import { at, type FlameTree, mergedTree } from "./tree.ts";

const TREE = mergedTree(
  {
    base: stacks(["t;main;get;find 30", "t;main;set;find 10", "t;main;set;find;hash 10", "t;main 50"], 1000),
    head: stacks(["t;main;get;find 30", "t;main;set;find;hash 20", "u;find 50"], 1000),
  },
  null,
);

function frameOf(tree: FlameTree, name: string): number {
  return tree.frames.findIndex((frame) => frame.function === name);
}

/** Paths of nodes from the root with their inclusive samples of base and head. */
function paths(tree: FlameTree): Record<string, [number, number]> {
  const names: string[] = [];
  const result: Record<string, [number, number]> = {};
  tree.frame.forEach((frame, node) => {
    const name = tree.frames[frame]?.function ?? "";
    const above = at(tree.parent, node);
    names.push(above < 0 ? name : `${names[above]};${name}`);
    const { base, head } = tree.weights;
    result[names[node] ?? ""] = [base?.inclusive[node] ?? 0, head?.inclusive[node] ?? 0];
  });
  return result;
}

describe("sandwich", () => {
  test("callers have the samples of the calls that they make", () => {
    expect(paths(callersOf(TREE, frameOf(TREE, "find")))).toEqual({
      find: [50, 100],
      "find;get": [30, 30],
      "find;get;main": [30, 30],
      "find;get;main;t": [30, 30],
      "find;set": [20, 20],
      "find;set;main": [20, 20],
      "find;set;main;t": [20, 20],
      "find;u": [0, 50],
    });
  });

  test("callees have the samples of the function alone", () => {
    expect(paths(calleesOf(TREE, frameOf(TREE, "find")))).toEqual({ find: [50, 100], "find;hash": [10, 20] });
    expect(paths(calleesOf(TREE, frameOf(TREE, "hash")))).toEqual({ hash: [10, 20] });
  });

  test("shares stay those of all samples", () => {
    const callees = calleesOf(TREE, frameOf(TREE, "find"));
    expect(callees.weights.base).toMatchObject({ total: 100, nanoseconds: 1000 });
    expect(difference(callees)?.change[0]).toBeCloseTo(500);
  });

  test("a recursion counts once", () => {
    const tree = mergedTree({ head: stacks(["m;a;b;a;c 5", "m;a 1", "m;b;a 2"]) }, "m");
    expect(paths(callersOf(tree, frameOf(tree, "a")))).toEqual({ a: [0, 8], "a;b": [0, 2] });
    expect(paths(calleesOf(tree, frameOf(tree, "a")))).toEqual({
      a: [0, 8],
      "a;b": [0, 5],
      "a;b;a": [0, 5],
      "a;b;a;c": [0, 5],
    });
  });

  test("functions come first in a bottom-up tree, with their own samples", () => {
    const tree = bottomUp(mergedTree({ head: stacks(["m;a;b 5", "m;c;b 2", "m;a 1"]) }, "m"));
    expect(paths(tree)).toEqual({
      "all functions": [0, 8],
      "all functions;a": [0, 1],
      "all functions;b": [0, 7],
      "all functions;b;a": [0, 5],
      "all functions;b;c": [0, 2],
    });
  });
});

describe("weighted samples", () => {
  const weighted = (samples: number[], variance: number[]) => ({
    ...stacks(["m;a 10", "m;b 90"], 1000),
    nodes: { thread: [0, 0], parent: [-1, -1], frame: [0, 1], samples },
    variance,
  });

  test("a sample that counts more makes a change less certain", () => {
    const plain = mergedTree(
      { base: stacks(["m;a 100", "m;b 900"], 1000), head: stacks(["m;a 160", "m;b 840"], 1000) },
      "m",
    );
    expect(difference(plain)?.sure[1]).toBe(1);
    const side = (samples: number) => ({
      ...weighted([samples, 1000 - samples], [samples * 9, 1000 - samples]),
      samples: 1000,
    });
    const merged = mergedTree({ base: side(100), head: side(160) }, "m");
    expect(difference(merged)?.change[1]).toBeCloseTo(60);
    expect(difference(merged)?.sure[1]).toBe(0);
  });

  test("the interval is the one of the formula", () => {
    const base = weighted([10, 90], [20, 100]);
    const head = { ...weighted([20, 80], [30, 100]), cpu_ns_per_op: 2000, cpu_error: 0.01 };
    const changes = difference(mergedTree({ base, head }, "m"));
    const error = Math.hypot(
      (Math.sqrt(20 * 0.9) / 100) * 1000,
      (Math.sqrt(30 * 0.8) / 100) * 2000,
      0.2 * 2000 * 0.01,
    );
    expect(changes?.change[1]).toBeCloseTo(0.2 * 2000 - 0.1 * 1000);
    expect(changes?.reach[1]).toBeCloseTo(3 * error);
  });
});
