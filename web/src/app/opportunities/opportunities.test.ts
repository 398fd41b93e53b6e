import { describe, expect, it } from "vitest";
import type { BuildVariant, Calibration, ListedOpportunity } from "../../core/records.ts";
import {
  caseUrl,
  evidenceName,
  fasterText,
  filtered,
  filterOf,
  functionStacksUrl,
  headline,
  knownEditsInShort,
  knownEditsText,
  savedTexts,
  savingText,
  variantName,
} from "./opportunities.ts";

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
  const document = { all_opportunities: 2, refuted_opportunities: 0, cases: [], saved_share: 0.1234 };

  it("state what all opportunities save together, and how cases are weighted", () => {
    const weighted = (kind: "command" | "priority") =>
      headline({ ...document, weights: { kind, source: "", covered: null } });
    expect(weighted("command")).toBe(
      "2 opportunities in 0 cases: together 12.3\u00a0% of the work of a request, each command weighted equally.",
    );
    expect(weighted("priority")).toContain("weighted by priority.");
  });

  it("count no opportunity that arguments refute", () => {
    const of = (all_opportunities: number) =>
      headline({
        ...document,
        all_opportunities,
        refuted_opportunities: 1,
        weights: { kind: "equal", source: "", covered: null },
      });
    expect(of(3)).toMatch(/^2 opportunities in 0 cases: .*; 1 more is refuted by arguments\.$/);
    expect(of(1)).toBe("Nothing was detected to optimise in 0 cases; 1 more is refuted by arguments.");
  });

  it("state what is saved, with its bounds and what is left of it", () => {
    const texts = (of: Partial<ListedOpportunity>) =>
      Object.values(savedTexts({ ...opportunity("atomics"), ...of })).map((text) =>
        text.replaceAll("\u00a0", " "),
      );
    expect(texts({})).toEqual(["3.0 %", "2.1 to 4.0 %", "all of it"]);
    expect(texts({ additional_share: 0.01 })[2]).toBe("1.0 %");
    const small = { low: 0.001, expected: 0.002, high: 0.0021 };
    expect(texts({ saved_share: small, additional_share: 0 })).toEqual([
      "0.20 %",
      "0.10 to 0.21 %",
      "0.00 %",
    ]);
  });

  it("state how far predictions were right for known edits", () => {
    const texts = (of: Partial<Calibration>) => {
      const calibration = { ...UNTESTED, ...of };
      return [knownEditsText(calibration), knownEditsInShort(calibration)];
    };
    expect(texts({})).toEqual(["no known edit tests what it predicts", "no known edit"]);
    expect(texts({ uncounted_edits: 1 })).toEqual([
      "1 known edit: what is saved is mostly not counted, and tests no prediction",
      "1 known edit, not counted",
    ]);
    expect(texts({ edits: 1, smallest_ratio: 1.184, largest_ratio: 1.184 })).toEqual([
      "1 known edit saved 1.18 times what it predicted",
      "1 known edit: 1.18 times that",
    ]);
    expect(texts({ edits: 2, smallest_ratio: 1, largest_ratio: 1.104 })).toEqual([
      "2 known edits saved 1.00 to 1.10 times what it predicted",
      "2 known edits: 1.00 to 1.10 times that",
    ]);
  });

  it("tell counted instructions from work that is not counted", () => {
    const estimate = (expected: number) => ({ low: expected / 2, expected, high: expected * 2 });
    const saved = (uncounted: number) =>
      savingText({
        case: "get",
        commands: ["GET"],
        instructions_per_op: 900,
        saved_instructions_per_op: estimate(180),
        uncounted_instructions_per_op: estimate(uncounted),
        saved_share: estimate(0.1),
        gain: estimate(0.25),
        lines: [],
        frames: [],
        evidence: {},
        text: "",
      }).replaceAll("\u00a0", " ");
    expect(saved(0)).toBe("20.0 % fewer instructions: 180 (90 to 360) of 900");
    expect(saved(100)).toBe(
      "10.0 % less work: 180 (90 to 360) instructions, 80 of them of the 900 that are counted",
    );
  });

  it("state by how much another build is faster or slower", () => {
    const text = (low: number, expected: number, high: number) =>
      fasterText({ low, expected, high }).replaceAll("\u00a0", " ");
    expect(text(0.021, 0.032, 0.04)).toBe("+3.2 % (+2.1 to +4.0 %)");
    expect(text(-0.04, -0.03, -0.02)).toBe("-3.0 % (-4.0 to -2.0 %)");
  });

  it("name a build by its words, or by what took effect", () => {
    const built = { flags: "-O3 -g", compiler: "GNU C11 12.2.0", allocator: "libc" };
    const named = (of: Partial<BuildVariant>) => variantName({ ...built, ...of } as BuildVariant);
    expect(named({ variant: "-O3" })).toBe("-O3");
    expect(named({ variant: "" })).toBe("-O3 -g");
    expect(named({ variant: "", flags: "" })).toBe("libc");
  });

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
