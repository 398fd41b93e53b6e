import { expect, test } from "vitest";
import { scaleOf } from "../charts/IntervalChart.tsx";
import type { Cell } from "../records.ts";
import { isNamed } from "./CaseList.tsx";
import { sortedRows } from "./CaseTable.tsx";

function cell(text: string, order: number | null = null): Cell {
  return { text, order, detail: "", is_name: false, is_part: false, mark: null, link: null, drawn: null };
}

function row(name: string, order: number | null, group = "string") {
  const cells = [cell(name), cell(group), cell(String(order ?? ""), order)];
  return { case: name, commands: ["GET"], group, outcomes: ["same"], metrics: [], engines: [], cells };
}

const ROWS = [row("get-100B", 3000), row("fcall", null, "function"), row("get-10B", 2000), row("set", 4000)];

function names(column: number, reversed = false): string[] {
  return sortedRows([...ROWS], column, reversed).map((of) => of.case);
}

test("names are sorted as readers order them, numbers from the largest on", () => {
  expect(names(0)).toEqual(["fcall", "get-10B", "get-100B", "set"]);
  expect(names(0, true)).toEqual(["set", "get-100B", "get-10B", "fcall"]);
  expect(names(1)[0]).toBe("fcall");
  expect(names(2).slice(0, 3)).toEqual(["set", "get-100B", "get-10B"]);
});

test("rows without a number are last in both directions", () => {
  expect(names(2).at(-1)).toBe("fcall");
  expect(names(2, true)).toEqual(["get-10B", "get-100B", "set", "fcall"]);
});

test("a column that there is not leaves the order of names", () => {
  expect(names(-1)).toHaveLength(ROWS.length);
});

test("a case is found by its name, its group and its commands", () => {
  const [first = row("", null)] = ROWS;
  expect(["GET-100", "String", " get "].map((text) => isNamed(first, text))).toEqual([true, true, true]);
  expect(isNamed(first, "hset")).toBe(false);
});

test("the scale holds all changes, and three times the minimum effect", () => {
  const drawn = { change: 0.2, low: 0.1, high: null, least: 0.02, values: "" };
  expect(scaleOf([{ ...cell(""), drawn }, undefined, cell("")])).toEqual({ largest: 0.2, unit: 0.02 });
  expect(scaleOf([{ ...cell(""), drawn: { ...drawn, change: 0.001, low: 0 } }]).largest).toBeCloseTo(0.06);
});
