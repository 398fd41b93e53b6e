import { expect, test } from "vitest";
import type { CaseResult, Verdict } from "../records.ts";
import { answersOf, failedOn, isMissing, outcomeOf, sorted, usualMetric, wordsOf } from "./comparison.ts";

function verdict(metric: string, changes: Partial<Verdict> = {}): Verdict {
  return {
    metric,
    engine: "counted",
    verdict: "same",
    base: 1,
    head: 1,
    change: 0,
    low: 0,
    high: 0,
    q: null,
    samples: 3,
    pairs: 3,
    min_effect: 0.005,
    detectable: 0.002,
    margin: null,
    wild_starts: null,
    ...changes,
  };
}

function result(name: string, changes: Partial<CaseResult> = {}): CaseResult {
  return {
    case: name,
    commands: ["GET"],
    group: "string",
    topology: "standalone",
    verdict: "same",
    work: "same",
    time: null,
    deciding: "instructions_per_op",
    work_deciding: "instructions_per_op",
    time_deciding: null,
    confirmed: false,
    validity: { valid: true, checks: [] },
    verdicts: [verdict("instructions_per_op"), verdict("cpu_ns_per_op", { change: 0.5 })],
    findings: [],
    failure: null,
    failed_sides: [],
    traced: null,
    ...changes,
  };
}

const INVALID = {
  verdict: "invalid",
  work: null,
  deciding: null,
  work_deciding: null,
  verdicts: [],
} as const;

test("work and time rest on the verdicts that the document names", () => {
  expect(answersOf(result("a")).map(({ answer, word }) => [answer, word])).toEqual([["work", "same"]]);
  const both = result("a", { time: "regression", time_deciding: "cpu_ns_per_op" });
  expect(answersOf(both).map(({ decided }) => decided?.change)).toEqual([0, 0.5]);
  expect(answersOf(result("a", { time: "unsure" }))[1]).toEqual({
    answer: "time",
    word: "unsure",
    decided: undefined,
  });
  expect(answersOf(result("a", { ...INVALID, verdicts: [] }))).toEqual([]);
});

const REGRESSION = { verdict: "regression", work: "regression" } as const;
const CASES = [
  result("a"),
  result("b", { ...INVALID, verdicts: [], failure: "it crashed" }),
  result("c", { ...INVALID, verdicts: [] }),
  result("d", { ...REGRESSION, verdicts: [verdict("instructions_per_op", { change: 0.1, q: 0.001 })] }),
  result("e", { ...REGRESSION, verdicts: [verdict("instructions_per_op", { change: null })] }),
  result("f", { work: "identical" }),
  // Its work changed, its time did not.
  result("g", {
    work: "regression",
    time: "same",
    time_deciding: "cpu_ns_per_op",
    verdicts: [verdict("instructions_per_op", { change: 0.3 }), verdict("cpu_ns_per_op", { change: 0.001 })],
  }),
];

test("cases are in the order of the document's reading, or by name, work or time", () => {
  const names = (cases: CaseResult[]) => cases.map((entry) => entry.case).join("");
  const reading = [..."edgbca"];
  expect(names(sorted(CASES, reading, "verdict", false))).toBe("edgbcaf");
  expect(names(sorted(CASES, reading, "case", true))).toBe("gfedcba");
  expect(names(sorted(CASES, reading, "work", false)).slice(0, 3)).toBe("egd");
  expect(names(sorted(CASES, reading, "time", false))[0]).toBe("g");
});

test("the outcome of a case that was not measured is failed", () => {
  expect(CASES.map(outcomeOf)).toEqual([
    "same",
    "failed",
    "invalid",
    "regression",
    "regression",
    "same",
    "same",
  ]);
});

test("a case is listed under its verdict, its work and its time", () => {
  expect(CASES.map((entry) => [...wordsOf(entry)].join(" "))).toEqual([
    "same",
    "failed",
    "invalid",
    "regression",
    "regression",
    "same identical",
    "same regression",
  ]);
});

test("of identical code a sample that decides nothing is not listed as unsure", () => {
  const sampled = { work: "identical", time: "unsure", time_deciding: "cpu_ns_per_op" } as const;
  expect([...wordsOf(result("a", sampled))]).toEqual(["same", "identical"]);
  expect([...wordsOf(result("a", { ...sampled, verdict: "regression", time: "regression" }))]).toEqual([
    "regression",
    "identical",
  ]);
  const undecided = result("a", { ...sampled, verdict: "unsure", work: "same" });
  expect([...wordsOf(undecided)]).toEqual(["unsure", "same"]);
});

test("an answer that could differ and has no word is missing", () => {
  expect(isMissing(result("a"), "time")).toBe(true);
  expect(isMissing(result("a"), "work")).toBe(false);
  expect(isMissing(result("a", { time: "unsure" }), "time")).toBe(false);
  expect(isMissing(result("a", { work: "identical" }), "time")).toBe(false);
  expect(isMissing(result("a", { ...INVALID, verdicts: [] }), "time")).toBe(false);
});

test("a case states the sides that make it invalid", () => {
  const invalid = (failed_sides: string[]) => result("a", { ...INVALID, verdicts: [], failed_sides });
  expect(failedOn(invalid(["head"]))).toBe("on the head only");
  expect(failedOn(invalid(["base", "head"]))).toBe("on both sides");
  expect(failedOn(invalid([]))).toBeUndefined();
});

test("the metric that most cases rest on is the usual one", () => {
  const served = result("h", {
    time: "regression",
    time_deciding: "ops_per_sec",
    verdicts: [verdict("ops_per_sec")],
  });
  expect(usualMetric([...CASES, served], "work")).toBe("instructions_per_op");
  expect(usualMetric([served], "time")).toBe("ops_per_sec");
  expect(usualMetric([], "time")).toBeUndefined();
});
