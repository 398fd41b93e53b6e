import { expect, test } from "vitest";
import { isNamed } from "../cases/CaseList.tsx";
import type { RunCase, RunReport } from "../records.ts";
import {
  measuredMetrics,
  type RunOrder,
  runEffort,
  runHeadline,
  runOutcome,
  runStatement,
  sortedRun,
} from "./run.ts";

function measured(
  name: string,
  metrics: Record<string, number> = {},
  changes: Partial<RunCase> = {},
): RunCase {
  return {
    case: name,
    commands: ["GET"],
    group: "string",
    topology: "standalone",
    validity: { valid: true, checks: [] },
    metrics,
    functions: [],
    samples: 3,
    limits: [],
    traced: null,
    failure: null,
    ...changes,
  };
}

const INVALID = { valid: false, checks: [] };
const CASES = [
  measured("get-100B", { instructions_per_op: 3000, cpu_ns_per_op: 0 }),
  measured("get-10B", { instructions_per_op: 2000 }),
  measured("fcall", {}, { group: "function", validity: INVALID, failure: "it crashed" }),
  measured("set", { instructions_per_op: 4000 }),
];

function named(order: RunOrder, reversed = false): string[] {
  return sortedRun(CASES, order, reversed).map((entry) => entry.case);
}

test("names are sorted upwards, their numbers as numbers", () => {
  expect(named("case")).toEqual(["fcall", "get-10B", "get-100B", "set"]);
  expect(named("case", true)).toEqual(["set", "get-100B", "get-10B", "fcall"]);
  expect(named("group")).toEqual(["fcall", "get-100B", "get-10B", "set"]);
});

test("what was not measured is last in either direction", () => {
  expect(named("instructions_per_op")).toEqual(["set", "get-100B", "get-10B", "fcall"]);
  expect(named("instructions_per_op", true)).toEqual(["get-10B", "get-100B", "set", "fcall"]);
  expect(named("cpu_ns_per_op")[0]).toBe("get-100B");
  expect(named("ops_per_sec", true)).toEqual(["get-100B", "get-10B", "fcall", "set"]);
});

test("columns are the metrics that were measured, also where they are 0; those of plugins come last", () => {
  expect(measuredMetrics(CASES)).toEqual(["instructions_per_op", "cpu_ns_per_op"]);
  const ofPlugin = measured("x", { bytes_per_key: 5, syscalls_per_op: 2, ops_per_sec: 3 });
  expect(measuredMetrics([ofPlugin])).toEqual(["ops_per_sec", "bytes_per_key"]);
  expect(measuredMetrics([])).toEqual([]);
});

test("a case failed, is invalid or was measured", () => {
  expect(CASES.map(runOutcome)).toEqual(["measured", "measured", "failed", "measured"]);
  expect(runOutcome(measured("x", {}, { validity: INVALID }))).toBe("invalid");
});

test("the sentence of a case has its metrics, or the checks that it failed", () => {
  const metrics = { ops_per_sec: 817252, cpu_ns_per_op: 1211.3, syscalls_per_op: 2 };
  expect(runStatement(measured("x", metrics))).toBe(
    "measured: CPU ns per request 1,211, requests per second 817,252",
  );
  const checks = [
    { check: "errors", ok: true, value: 0, limit: "0" },
    { check: "hit_rate", ok: false, value: 0.12, limit: ">= 0.99" },
  ];
  expect(runStatement(measured("x", metrics, { validity: { valid: false, checks } }))).toBe(
    "invalid: hit_rate is 0.12, expected >= 0.99",
  );
});

test("the headline and the effort are those of the other reports", () => {
  const report = { cases: CASES, machine_seconds: 75 } as RunReport;
  const settings = { engines: ["counted", "timed"], quick: true } as RunReport["settings"];
  expect(runHeadline(report)).toBe("3 of 4 cases measured");
  expect(runHeadline({ ...report, cases: CASES.slice(0, 1) })).toBe("1 case measured");
  expect(runHeadline({ ...report, cases: [] })).toBe("no case was measured");
  expect(runEffort({ ...report, settings })).toBe("counted and timed, quick, 1 min 15 s of trials");
});

test("cases are found by name, group and command", () => {
  const matching = (text: string) => CASES.filter((entry) => isNamed(entry, text)).map((entry) => entry.case);
  expect(matching(" GET-1 ")).toEqual(["get-100B", "get-10B"]);
  expect(matching("function")).toEqual(["fcall"]);
  expect(matching("get")).toHaveLength(4);
  expect(matching("")).toHaveLength(4);
});
