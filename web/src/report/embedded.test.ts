import { expect, test } from "vitest";
import { UnreadableData } from "../core/cases/documents.ts";
import { drawingsIn } from "./embedded.ts";

const DRAWN = {
  latency: null,
  throughput: null,
  stacks: null,
  waits: null,
  lines: [],
  starts_at: [],
  missing: null,
};
const NO_STACKS = { cpu: {}, waits: {}, lines: [], sources: [] };

test("stacks are not parsed before they are read", () => {
  let parsed = 0;
  const source = {
    text: () => "",
    read: () => {
      parsed++;
      return NO_STACKS;
    },
  };
  const pictures = { schema: "zerolap.pictures/1", frames: [], cases: { a: DRAWN, b: DRAWN } };
  const drawings = drawingsIn(JSON.stringify(pictures), new Map([["a", source]]));
  expect(parsed).toBe(0);
  expect(drawings.get("a")?.stacks?.read()).toEqual(NO_STACKS);
  expect(parsed).toBe(1);
  expect(drawings.get("b")?.stacks).toBeNull();
  expect(drawings.get("c")).toBeUndefined();
});

test("pictures of another version are reported", () => {
  expect(() => drawingsIn('{"schema":"zerolap.pictures/2","cases":{}}', new Map())).toThrow(UnreadableData);
  expect(() => drawingsIn("", new Map())).toThrow(/^The data of the charts is not valid JSON/);
});
