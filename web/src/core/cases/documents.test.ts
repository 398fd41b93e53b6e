import { expect, test } from "vitest";
import { documentIn, UnreadableData } from "./documents.ts";

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
