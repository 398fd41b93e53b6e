import { expect, test } from "vitest";
import { documentIn, drawingsIn, UnreadableData } from "./embedded.ts";

test("a document keeps all digits of its seed, and what looks like a seed in a text", () => {
  const text = String.raw`{"schema":"zerolap.run/1","command_line":"x \"seed\":5","settings":{"seed":18446744073709551615}}`;
  expect(documentIn(text)).toEqual({
    schema: "zerolap.run/1",
    command_line: 'x "seed":5',
    settings: { seed: "18446744073709551615" },
  });
});

test("a document that cannot be read is reported with the reason", () => {
  expect(() => documentIn("{")).toThrow(UnreadableData);
  expect(() => documentIn("{")).toThrow(/^The document of this report is not valid JSON/);
  expect(() => documentIn('{"schema":"zerolap.comparison/2"}')).toThrow(
    /has the schema "zerolap.comparison\/2"/,
  );
  expect(() => documentIn("null")).toThrow(/has the schema null/);
});

const DRAWN = { latency: null, throughput: null, stacks: null, starts_at: [], missing: null };

test("stacks are not parsed before they are read", () => {
  let parsed = 0;
  const source = {
    text: () => "",
    read: () => {
      parsed++;
      return {};
    },
  };
  const pictures = { schema: "zerolap.pictures/1", frames: [], cases: { a: DRAWN, b: DRAWN } };
  const drawings = drawingsIn(JSON.stringify(pictures), new Map([["a", source]]));
  expect(parsed).toBe(0);
  expect(drawings.get("a")?.stacks?.read()).toEqual({});
  expect(parsed).toBe(1);
  expect(drawings.get("b")?.stacks).toBeNull();
  expect(drawings.get("c")).toBeUndefined();
});

test("pictures of another version are reported", () => {
  expect(() => drawingsIn('{"schema":"zerolap.pictures/2","cases":{}}', new Map())).toThrow(UnreadableData);
  expect(() => drawingsIn("", new Map())).toThrow(/^The data of the charts is not valid JSON/);
});
