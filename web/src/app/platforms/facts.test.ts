import { describe, expect, it } from "vitest";
import { factName, factText } from "./facts.ts";

describe("facts of platforms", () => {
  it("have names in words, unknown ones too", () => {
    expect(factName("memory_gib")).toBe("memory, GiB");
    expect(factName("clock_source")).toBe("clock source");
    expect(factName("of_another_version")).toBe("of another version");
  });

  it("state processors as counts", () => {
    const text = "[[0, 0, 0], [1, 1, 0], [2, 0, 1], [3, 1, 1]]";
    expect(factText("processors", text)).toBe("4 processors, 2 cores, 2 last-level caches");
  });

  it("state parts of an object a line each", () => {
    const text = '{"spectre_v1": "Not affected", "mds": "Vulnerable"}';
    expect(factText("mitigations", text)).toBe("spectre v1: Not affected\nmds: Vulnerable");
  });

  it("leave what has no known form as it is", () => {
    for (const text of ["[", "[[1]]", "{broken", "performance", "[]"]) {
      expect(factText("processors", text)).toBe(text);
    }
  });
});
