import { expect, test } from "vitest";
import type { SampledLines } from "../records.ts";
import { stacks } from "./examples.ts";
import { linesOf, stackLinesOf } from "./lines.ts";
import { costText, subjectOf } from "./text.ts";
import { mergedTree } from "./tree.ts";

const LINES: SampledLines = {
  function: "hash",
  file: "hash.c",
  object: "",
  sides: {
    base: { samples: 100, own: 50, passes: 2, lined_passes: 2 },
    head: { samples: 200, own: 40, passes: 2, lined_passes: 1 },
  },
  source: [1, 0],
  line: { base: [7, null], head: [8, 9] },
  own: { base: [25, 0], head: [10, 30] },
  left_out: 3,
};
const SOURCES = [
  { file: "hash.c", text: "return it;" },
  { file: "mix.h", text: null },
];
const SIDES = { base: stacks(["t;hash 100"], 1000), head: stacks(["t;hash 200"]) };

test("lines in columns are those that the page of stacks has", () => {
  const { sides, lines, left_out } = stackLinesOf(LINES, SOURCES, SIDES);
  expect(left_out).toBe(3);
  expect(sides).toEqual([
    { side: "base", own: 50, share: 0.5, cpu_ns_per_op: 500, passes: 2, lined_passes: 2 },
    { side: "head", own: 40, share: 0.2, cpu_ns_per_op: null, passes: 2, lined_passes: 1 },
  ]);
  expect(lines).toEqual([
    {
      file: "mix.h",
      text: null,
      sides: [
        { side: "base", line: 7, samples: 25, share: 0.5, cpu_ns_per_op: 250 },
        { side: "head", line: 8, samples: 10, share: 0.25, cpu_ns_per_op: null },
      ],
    },
    {
      file: "hash.c",
      text: "return it;",
      sides: [
        { side: "base", line: null, samples: 0, share: 0, cpu_ns_per_op: 0 },
        { side: "head", line: 9, samples: 30, share: 0.75, cpu_ns_per_op: null },
      ],
    },
  ]);
});

test("a function of the graph has the lines of its name and file, whichever its object", () => {
  const frame = { function: "hash", file: "hash.c", object: "server" };
  expect(linesOf(frame, [LINES])).toBe(LINES);
  expect(linesOf({ ...frame, file: "other.c" }, [LINES])).toBeUndefined();
  expect(linesOf({ ...frame, file: null }, [LINES])).toBeUndefined();
});

test("stacks off the processor are stated as times", () => {
  const waits = { ...stacks(["t;main;fsync 1000000", "t;main 3000000"], 800), event: "off-cpu" };
  const tree = mergedTree({ head: waits }, null);
  expect(subjectOf(tree.weights)).toBe("the time off the processor");
  const fsync = tree.frame.findIndex((frame) => tree.frames[frame]?.function === "fsync");
  expect(costText(tree, fsync)).toBe(
    "25 % of the time off the processor · 1 ms, 1 ms self · 200 ns per request",
  );
  expect(subjectOf(mergedTree(SIDES, null).weights)).toBe("all samples");
});
