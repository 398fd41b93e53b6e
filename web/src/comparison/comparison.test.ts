import { expect, test } from "vitest";
import type { CaseResult, Comparison, Verdict } from "../records.ts";
import { decidingVerdict, headline, outcomeOf, sorted } from "./comparison.ts";

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
    deciding: "instructions_per_op",
    confirmed: false,
    validity: { valid: true, checks: [] },
    verdicts: [verdict("instructions_per_op"), verdict("cpu_ns_per_op", { change: 0.5 })],
    findings: [],
    failure: null,
    ...changes,
  };
}

test("the verdict that decides is the one that the document names", () => {
  expect(decidingVerdict(result("a"))?.metric).toBe("instructions_per_op");
  expect(decidingVerdict(result("a", { deciding: "cpu_ns_per_op" }))?.change).toBe(0.5);
  expect(decidingVerdict(result("a", { deciding: null }))).toBeUndefined();
  expect(decidingVerdict(result("a", { verdict: "invalid", verdicts: [] }))).toBeUndefined();
});

const CASES = [
  result("a"),
  result("b", { verdict: "invalid", deciding: null, failure: "it crashed" }),
  result("c", { verdict: "invalid", deciding: null }),
  result("d", {
    verdict: "regression",
    verdicts: [verdict("instructions_per_op", { change: 0.1, q: 0.001 })],
  }),
  result("e", { verdict: "regression", verdicts: [verdict("instructions_per_op", { change: null })] }),
];

test("cases are sorted by their outcome, then by the size of the change; an infinite one is the largest", () => {
  expect(sorted(CASES, "verdict", false).map((entry) => entry.case)).toEqual(["e", "d", "b", "c", "a"]);
  expect(sorted(CASES, "case", true).map((entry) => entry.case)).toEqual(["e", "d", "c", "b", "a"]);
  expect(sorted(CASES, "q", false)[0]?.case).toBe("d");
});

test("the headline counts outcomes", () => {
  expect(CASES.map(outcomeOf)).toEqual(["same", "failed", "invalid", "regression", "regression"]);
  expect(headline({ cases: CASES } as Comparison)).toBe("2 regressions, 1 failed, 1 invalid, 1 same");
  expect(headline({ cases: [] as CaseResult[] } as Comparison)).toBe("no case was measured");
});
