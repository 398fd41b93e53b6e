import { describe, expect, test } from "vitest";
import { frameKey } from "../../core/flame/tree.ts";
import type { CostlyFunction, MergedCase, ProfiledCase, StackProfile } from "../../core/records.ts";
import { changeIn, costIn, overAllCases } from "./functionCells.ts";
import { caseCountsOf, prunedText, sidesOf } from "./profile.ts";
import { type Selection, selectionOf, stacksUrl } from "./selection.ts";

const frame = (name: string, inlined = false) => ({
  function: name,
  file: "server.c",
  object: "redis-server",
  inlined,
});

const CASES: ProfiledCase[] = ["get", "hset"].map((name) => ({
  case: name,
  result: "c-1",
  sides: (["base", "head"] as const).map((side) => ({
    side,
    samples: 1000,
    passes: 1,
    recorded_passes: 4,
    cpu_ns_per_op: side === "base" ? 1000 : 2000,
    cpu_error: 0.01,
    weight: 0.5,
  })),
}));

const PROFILE: StackProfile = {
  results: [],
  cases: CASES,
  all_cases: ["get", "hset"],
  left_out: [],
  weights: "time",
  time: "cpu",
  times: ["cpu"],
  events: ["cpu-clock"],
  threads: ["main"],
  frames: [frame("main"), frame("find"), frame("find", true)],
  frame_cases: [2, 1, 2],
  nodes: { thread: [0, 0, 0], parent: [-1, 0, 1], frame: [0, 1, 2] },
  sides: (["base", "head"] as const).map((side) => ({
    side,
    samples: 2000,
    lost: 0,
    cpu_ns_per_op: null,
    cpu_error: 0,
    pruned_share: side === "base" ? 0.01 : 0.02,
    own: [1000, 500, 500],
    variance: [1500, 700, 700],
  })),
  least_share: 0.0005,
  pruned_nodes: 12,
  lines: [],
};

describe("a profile", () => {
  test("has the stacks of each side over the same nodes", () => {
    const { base, head } = sidesOf(PROFILE);
    expect(base?.nodes.parent).toBe(head?.nodes.parent);
    expect(base?.nodes.samples).toEqual([1000, 500, 500]);
    expect(head?.variance).toEqual([1500, 700, 700]);
  });

  test("knows in how many cases functions are, inlined or not", () => {
    const counts = caseCountsOf(PROFILE);
    expect(counts?.all).toBe(2);
    expect(counts?.ofFrame.get(frameKey(frame("find")))).toBe(2);
    expect(caseCountsOf({ ...PROFILE, cases: CASES.slice(0, 1) })).toBeUndefined();
  });

  test("states what is put together", () => {
    expect(prunedText(PROFILE)).toContain("12 frames with less than 0.05 % of the samples");
    expect(prunedText(PROFILE)).toContain("base 1 %, head 2 %");
    expect(prunedText({ ...PROFILE, pruned_nodes: 0 })).toBeNull();
  });
});

describe("the address", () => {
  test("names a result, a case, a platform, or nothing", () => {
    const selection = (text: string) => selectionOf(new URLSearchParams(text));
    expect(selection("")).toBeNull();
    expect(selection("case=get")).toBeNull();
    expect(selection("id=c-1&case=get&platform=p")).toMatchObject({ id: "c-1", case: "get", platform: null });
    expect(selection("newest=5&weights=case")).toMatchObject({ newest: "5", weights: "case", id: null });
  });

  test("is made from what is chosen", () => {
    expect(stacksUrl({ id: "c-1", case: "a&b" })).toBe("/stacks?id=c-1&case=a%26b");
    expect(stacksUrl({ platform: "p", newest: "10", weights: "case" })).toBe(
      "/stacks?platform=p&newest=10&weights=case",
    );
    expect(stacksUrl({ id: "c-1", weights: "time", leastShare: "0" })).toBe("/stacks?id=c-1&least_share=0");
  });
});

describe("cells of functions and cases", () => {
  const entry: CostlyFunction = {
    function: "find",
    file: "dict.c",
    object: "redis-server",
    sides: [
      { side: "base", own: [0.1, 0.3], inclusive: [0.1, 0.4] },
      { side: "head", own: [0.05, 0.3], inclusive: [0.05, 0.4] },
    ],
  };
  const [get, hset] = CASES.map(({ result, ...of }) => ({ ...of, results: [result] })) as [
    MergedCase,
    MergedCase,
  ];
  const selection = selectionOf(new URLSearchParams("id=c-1")) as Selection;
  const timed = { isTimed: true, selection };

  test("have the cost of the head, in time or as a share", () => {
    expect(costIn(entry, hset, 1, timed)).toMatchObject({ value: 600, text: "600" });
    expect(costIn(entry, hset, 1, { isTimed: false, selection })).toMatchObject({ value: 0.3, text: "30 %" });
    expect(
      costIn(
        { ...entry, sides: entry.sides.map((side) => ({ ...side, inclusive: [null, null] })) },
        hset,
        1,
        timed,
      )?.text,
    ).toBe("");
  });

  test("begin with the part of all samples, the mean of both sides", () => {
    const [first, second] = [get, hset].map((merged) => ({
      ...merged,
      sides: merged.sides.map((side) => ({ ...side, weight: 0.5 })),
    })) as [MergedCase, MergedCase];
    expect(overAllCases(entry, [first, second]).text).toBe("18.75 %");
  });

  test("have no colour where the interval of the change includes 0", () => {
    expect(changeIn(entry, get, 0, timed)).toMatchObject({ value: null, text: "(0 ns)" });
    expect(changeIn(entry, hset, 1, timed)).toMatchObject({ value: 300, text: "+300 ns" });
    expect(changeIn(entry, hset, 1, timed)?.href).toContain("id=c-1&case=hset&function=");
    const newest = selectionOf(new URLSearchParams("platform=p&newest=10")) as Selection;
    expect(changeIn(entry, hset, 1, { isTimed: true, selection: newest })?.href).toMatch(
      /^\/stacks\?case=hset&platform=p&newest=10&function=/,
    );
  });
});
