import { describe, expect, it } from "vitest";
import type { Calibration, ListedOpportunity } from "../../core/records.ts";
import { caseUrl, evidenceName, filtered, filterOf, functionStacksUrl } from "./opportunities.ts";

const UNTESTED: Calibration = { edits: 0, smallest_ratio: null, largest_ratio: null, uncounted_edits: 0 };
const ESTIMATE = { low: 0.0212, expected: 0.03, high: 0.04 };

function opportunity(detector: string, ...commands: string[]): ListedOpportunity {
  return {
    rank: 1,
    detector,
    function: "format",
    file: "server.c",
    category: "formatting",
    confidence: "high",
    saved_share: ESTIMATE,
    additional_share: 0.03,
    is_refuted: false,
    calibration: UNTESTED,
    cases: [],
    text: "",
    all_cases: commands.length,
    commands,
    tested: "",
  };
}

describe("filters", () => {
  const all = [opportunity("costly-formatting", "GET", "SET"), opportunity("atomics", "SET")];

  it("leave what has all of their values", () => {
    const named = (query: string) =>
      filtered(all, filterOf(new URLSearchParams(query))).map(({ detector }) => detector);
    expect(named("")).toEqual(["costly-formatting", "atomics"]);
    expect(named("command=GET")).toEqual(["costly-formatting"]);
    expect(named("command=SET&detector=atomics&category=formatting")).toEqual(["atomics"]);
    expect(named("category=parsing")).toEqual([]);
  });
});

describe("words", () => {
  it("name figures of the evidence", () => {
    expect(evidenceName("calls_per_op")).toBe("calls per request");
  });
});

describe("links", () => {
  it("lead to the case in a comparison or a run", () => {
    expect(caseUrl("r-1", "get&set")).toBe("/runs/r-1?case=get%26set");
    expect(caseUrl("c-1", "get")).toBe("/comparisons/c-1?case=get");
  });

  it("lead to the stacks of a function, which is known by its file or its library", () => {
    const chosen = (file: string) =>
      new URL(functionStacksUrl("r-1", "get", { function: "f", file }), "http://lab").searchParams.get(
        "function",
      );
    expect(chosen("server.c")).toBe('["f","server.c",true]');
    expect(chosen("libc.so.6")).toBe('["f",null,"libc.so.6"]');
    expect(chosen("redis-server")).toBe('["f",null,"redis-server"]');
  });
});
