import { describe, expect, it } from "vitest";
import { DETECTORS, detectorText, detectorUrl } from "./documents.ts";
import { blocksOf, spansOf } from "./markdown.ts";

describe("blocks", () => {
  it("are parted by empty lines, and are what their beginning states", () => {
    const text =
      "# name\n\ntwo\nlines\n\n    code\n      more\n\n| a | b |\n|---|---|\n| 1 | |\n\n- one\n- two\n";
    expect(blocksOf(text)).toEqual([
      { kind: "heading", text: "name" },
      { kind: "paragraph", text: "two lines" },
      { kind: "code", text: "code\n  more" },
      { kind: "table", head: ["a", "b"], rows: [["1", ""]] },
      { kind: "list", items: ["one", "two"] },
    ]);
  });
});

describe("spans", () => {
  it("are text, code, strong words and links", () => {
    expect(spansOf("**Data**: `a*b` of [there](x.md).")).toEqual([
      { kind: "strong", text: "Data" },
      { kind: "text", text: ": " },
      { kind: "code", text: "a*b" },
      { kind: "text", text: " of " },
      { kind: "link", text: "there", target: "x.md" },
      { kind: "text", text: "." },
    ]);
  });
});

describe("pages of detectors", () => {
  it("begin with the name of the detector", async () => {
    expect(DETECTORS).toContain("costly-formatting");
    for (const name of DETECTORS) {
      expect(blocksOf((await detectorText(name)) ?? "")[0]).toEqual({ kind: "heading", text: name });
    }
  });

  it("are those of the lab's own detectors", () => {
    expect(detectorUrl("costly-formatting")).toBe("/detectors/costly-formatting");
    expect(detectorUrl("one-of-a-plugin")).toBeNull();
  });
});
