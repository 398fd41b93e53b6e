import { describe, expect, test } from "vitest";
import { changeColouring, kindColouring, kindLegend, kindOf, LEVELS, mixed } from "./colouring.ts";
import { difference } from "./difference.ts";
import { stacks } from "./examples.ts";
import { functionCosts, sortedFunctions } from "./functions.ts";
import { Cells, laidOut, neighbour, nodeAt, RUN, visible } from "./layout.ts";
import { matchedSamples, matcher, matches } from "./search.ts";
import { MovingWindow } from "./stage.ts";
import { costText, cut, nameOf } from "./text.ts";
import { type FlameTree, mergedTree, type SideWeights, threadNames } from "./tree.ts";

const BASE = stacks(["main;run;get 60", "main;run;old 10", "main;run 10", "io;read 20"], 1000);
const HEAD = stacks(["io;read 20", "main;run;get 60", "main;run;fresh_in 40", "main;run 80"], 1500);
const BOTH = mergedTree({ base: BASE, head: HEAD }, null);

function named(tree: FlameTree): (string | undefined)[] {
  return [...tree.frame].map((frame) => tree.frames[frame]?.function);
}

function node(tree: FlameTree, name: string): number {
  return named(tree).indexOf(name);
}

function weights(tree: FlameTree, side: "base" | "head"): SideWeights {
  return tree.weights[side] as SideWeights;
}

describe("merging", () => {
  test("numbers by depth, siblings by name", () => {
    expect(named(BOTH)).toEqual(["all threads", "io", "main", "read", "run", "fresh_in", "get", "old"]);
    expect([...BOTH.rows]).toEqual([0, 1, 3, 5, 8]);
    expect([...BOTH.parent]).toEqual([-1, 0, 0, 1, 2, 4, 4, 4]);
  });

  test("sums what is beneath, by side", () => {
    expect([...weights(BOTH, "base").inclusive]).toEqual([100, 20, 80, 20, 80, 0, 60, 10]);
    expect([...weights(BOTH, "head").inclusive]).toEqual([200, 20, 180, 20, 180, 40, 60, 0]);
    expect(weights(BOTH, "head").own[node(BOTH, "run")]).toBe(80);
  });

  test("of one thread keeps what shares are of", () => {
    const tree = mergedTree({ base: BASE, head: HEAD }, "io");
    expect(named(tree)).toEqual(["io", "read"]);
    expect(weights(tree, "base")).toMatchObject({ total: 100 });
  });

  test("works with one side, and names threads by their samples", () => {
    const tree = mergedTree({ head: HEAD }, null);
    expect(tree.weights.base).toBeUndefined();
    expect(difference(tree)).toBeNull();
    expect(threadNames({ head: HEAD })).toEqual(["main", "io"]);
  });
});

describe("layout", () => {
  const layout = laidOut(BOTH, weights(BOTH, "head").inclusive);

  test("places children side by side, own samples at the right", () => {
    expect([...layout.left]).toEqual([0, 0, 20, 0, 20, 20, 60, 120]);
    expect([...layout.right]).toEqual([200, 20, 200, 20, 200, 60, 120, 120]);
  });

  test("finds nodes, none where a function runs itself", () => {
    expect(nodeAt(layout, 3, 59)).toBe(node(BOTH, "fresh_in"));
    expect(nodeAt(layout, 3, 60)).toBe(node(BOTH, "get"));
    expect(nodeAt(layout, 3, 150)).toBeNull();
    expect(nodeAt(layout, 3, 10)).toBeNull();
    expect(nodeAt(layout, 4, 10)).toBeNull();
  });

  test("moves among nodes that have a width", () => {
    const [get, fresh, run] = [node(BOTH, "get"), node(BOTH, "fresh_in"), node(BOTH, "run")];
    expect(neighbour(layout, run, "down", 0)).toBe(get);
    expect(neighbour(layout, get, "left", 0)).toBe(fresh);
    expect(neighbour(layout, get, "right", 0)).toBeNull();
    expect(neighbour(layout, get, "left", get)).toBeNull();
    expect(neighbour(layout, get, "up", 0)).toBe(run);
    expect(neighbour(layout, 0, "up", 0)).toBeNull();
    expect(visible(layout, node(BOTH, "old"))).toBe(run);
  });

  test("draws what is seen, and runs of what is too narrow", () => {
    const cells = new Cells(BOTH.frame.length);
    cells.collect(layout, { start: 0, end: 200, pixels: 200, firstRow: 3, endRow: 9 });
    expect(cells.count).toBe(2);
    expect([...cells.left.slice(0, 2)]).toEqual([20, 60]);
    const many = mergedTree(
      { head: stacks(Array.from({ length: 1000 }, (_, place) => `main;f${place} 1`)) },
      "main",
    );
    const crowd = new Cells(1001);
    crowd.collect(laidOut(many, weights(many, "head").inclusive), {
      start: 0,
      end: 1000,
      pixels: 100,
      firstRow: 1,
      endRow: 2,
    });
    expect(crowd.count).toBeLessThan(5);
    expect(crowd.node[0]).toBe(RUN);
    expect(crowd.right[crowd.count - 1]).toBeCloseTo(100, 0);
  });
});

describe("search", () => {
  const inclusive = weights(BOTH, "head").inclusive;
  const share = (text: string) => {
    const isMatch = matcher(text);
    return isMatch === null ? null : matchedSamples(BOTH, matches(BOTH, isMatch), inclusive);
  };

  test("counts a stack once", () => {
    expect(share("/run|get/")).toBe(180);
    expect(share("GET")).toBe(60);
    expect(share("fresh_in.c")).toBe(40);
    expect(share("nothing")).toBe(0);
    expect(share("main")).toBe(0);
  });

  test("knows nothing and what is no expression", () => {
    expect([share(" "), share("/")]).toEqual([null, null]);
    expect(() => matcher("/(/")).toThrow(SyntaxError);
  });
});

describe("difference", () => {
  test("is of nanoseconds where both are known, else of shares", () => {
    const changes = difference(BOTH);
    expect(changes?.unit).toBe("nanoseconds");
    expect(changes?.change[node(BOTH, "get")]).toBeCloseTo(-150);
    expect(changes?.change[node(BOTH, "fresh_in")]).toBeCloseTo(300);
    const shares = difference(mergedTree({ base: stacks(["m;a 1"]), head: stacks(["m;b 1"]) }, null));
    expect(shares?.unit).toBe("share");
  });

  test("is neutral where chance may explain it", () => {
    const changes = difference(BOTH);
    if (changes === null) {
      throw new Error("both sides are there");
    }
    const { ofNode } = changeColouring(changes);
    expect(ofNode[node(BOTH, "get")]).toBe(LEVELS);
    expect(ofNode[node(BOTH, "fresh_in")]).toBeGreaterThan(LEVELS);
    expect(ofNode[0]).toBe(2 * LEVELS);
  });
});

test("a difference within the uncertainty of both sides' cost is neutral", () => {
  const changes = difference(
    mergedTree({ base: stacks(["m;a 500"], 1000, 0.01), head: stacks(["m;a 500"], 1030, 0.01) }, null),
  );
  expect(changes?.change[0]).toBeCloseTo(30);
  expect(changes?.largest).toBe(0);
});

test("kinds of code have colours of their own, and functions shades by their names alone", () => {
  const tree = mergedTree({ head: stacks(["m;a;k_b 5", "m;a;c_in 9"]) }, null);
  expect(kindLegend(tree).map(({ kind }) => kind)).toEqual(["server", "inlined", "kernel"]);
  const { ofNode } = kindColouring(tree);
  expect(ofNode[0]).toBe(0);
  const colours = ["a", "k_b", "c_in"].map((name) => ofNode[node(tree, name)]);
  expect(new Set(colours).size).toBe(3);
  const other = mergedTree({ head: stacks(["m;z 90", "m;a 1"]) }, null);
  expect(kindColouring(other).ofNode[node(other, "a")]).toBe(colours[0]);
});

test("kinds follow from the object", () => {
  const objects = [
    "redis-server",
    "libc.so.6",
    "libssl.so",
    "[kernel]",
    "[nf_tables.ko]",
    "[vdso]",
    "[unknown]",
    null,
  ];
  expect(objects.map(kindOf)).toEqual([
    "server",
    "libraries",
    "libraries",
    "kernel",
    "kernel",
    "libraries",
    "other",
    "other",
  ]);
});

test("nameless functions of two objects are apart", () => {
  const nameless = (object: string) => ({ function: "[unknown]", file: null, object, inlined: false });
  const side = stacks(["m;a 5", "m;b 3"]);
  side.frames = [nameless("server"), nameless("libc.so.6")];
  const tree = mergedTree({ head: side }, null);
  expect(functionCosts(tree).map(({ object }) => object)).toEqual(["server", "libc.so.6"]);
});

test("a mixed colour is a pixel", () => {
  expect(mixed("#000000", "#ff8000", 1).toString(16)).toBe("ff0080ff");
  expect(mixed("#000000", "#ff8000", 0).toString(16)).toBe("ff000000");
});

test("functions count a recursion once", () => {
  const tree = mergedTree(
    { base: stacks(["m;a;b;a 5", "m;a 1"]), head: stacks(["m;a;b;a 2", "m;b 2"]) },
    null,
  );
  const [a, b] = sortedFunctions(functionCosts(tree), "function", false);
  expect(a).toMatchObject({ function: "a", self: { base: 6, head: 2 }, total: { base: 6, head: 2 } });
  expect(b).toMatchObject({ function: "b", self: { base: 0, head: 2 }, total: { base: 5, head: 4 } });
  expect(b?.change?.change).toBeCloseTo(0.5);
  expect(sortedFunctions(functionCosts(tree), "self", false)[0]?.function).toBe("a");
});

test("words of a node", () => {
  expect(nameOf(BOTH, node(BOTH, "fresh_in"))).toBe("fresh_in · fresh_in.c · server · inlined");
  expect(costText(BOTH, node(BOTH, "get"))).toBe(
    "60 % → 30 % of all samples · 60 → 60 samples, 60 → 60 self · 600 → 450 ns per request (-150 ns ± 207)",
  );
  expect(cut("lookupKey", 5)).toBe("look…");
});

test("a window moves from its first step on, and arrives", () => {
  const window = new MovingWindow();
  window.jump(0, 100);
  window.move(20, 30);
  expect(window.step(5000)).toBe(true);
  expect([window.start, window.end]).toEqual([0, 100]);
  expect(window.step(5100)).toBe(true);
  expect(window.start).toBeGreaterThan(0);
  expect(window.step(6000)).toBe(false);
  expect([window.start, window.end]).toEqual([20, 30]);
});
