/** The cells of the map of functions and cases. */

import type { HeatCell } from "../../core/charts/HeatMap.tsx";
import { changeText } from "../../core/flame/text.ts";
import { frameKey } from "../../core/flame/tree.ts";
import { count, percent } from "../../core/numbers.ts";
import type { CostlyFunction, MergedCase, ProfiledSide } from "../../core/records.ts";
import { type Selection, stacksUrl } from "./selection.ts";

/** As in core/flame/difference.ts. */
const STANDARD_ERRORS = 3;

/** What the cells of a map have in common. */
interface MapContext {
  isTimed: boolean;
  selection: Selection;
}

/** What functions are ordered by: the part that a function has itself of the merged samples, the mean of the sides. */
export function overAllCases(entry: CostlyFunction, cases: readonly MergedCase[]): HeatCell {
  const parts = entry.sides.flatMap(({ own }, side) =>
    cases.map((merged, place) => (own[place] ?? 0) * (merged.sides[side]?.weight ?? 0)),
  );
  const text = percent(parts.reduce((sum, part) => sum + part, 0) / entry.sides.length);
  return { value: null, text, title: `${entry.function}: itself ${text} of the samples of all cases` };
}

function withoutSamples(entry: CostlyFunction, profiled: MergedCase): HeatCell {
  return { value: null, text: "", title: `${entry.function} itself has no samples in ${profiled.case}` };
}

/** What a function costs itself in a case, of the head where there are two sides. */
export function costIn(
  entry: CostlyFunction,
  profiled: MergedCase,
  place: number,
  { isTimed, selection }: MapContext,
): HeatCell | null {
  const last = profiled.sides.length - 1;
  const side = profiled.sides[last] as ProfiledSide;
  const own = entry.sides[last]?.own[place] ?? null;
  const inclusive = entry.sides[last]?.inclusive[place] ?? null;
  if (inclusive === null || own === null) {
    return withoutSamples(entry, profiled);
  }
  const value = own * (isTimed ? (side.cpu_ns_per_op ?? 0) : 1);
  const cost = side.cpu_ns_per_op;
  const inTime = (share: number) => (cost === null ? "" : `, ${count(share * cost)} ns per request`);
  return {
    value,
    text: isTimed ? count(value) : percent(value),
    title: `${entry.function} in ${profiled.case}: itself ${percent(own)} of the samples${inTime(own)}; with what it calls ${percent(inclusive)}${inTime(inclusive)}`,
    href: linkOf(entry, profiled, selection),
  };
}

/** How a function's own cost changed in a case; the formula is that of core/flame/difference.ts. */
export function changeIn(
  entry: CostlyFunction,
  profiled: MergedCase,
  place: number,
  { isTimed, selection }: MapContext,
): HeatCell | null {
  const [base, head] = profiled.sides;
  const [before, after] = entry.sides.map((side) => side.own[place] ?? 0);
  if (base === undefined || head === undefined || before === undefined || after === undefined) {
    return null;
  }
  if (before === 0 && after === 0) {
    return withoutSamples(entry, profiled);
  }
  const cost = (side: ProfiledSide) => (isTimed ? (side.cpu_ns_per_op ?? 0) : 1);
  const change = after * cost(head) - before * cost(base);
  const reach =
    STANDARD_ERRORS *
    Math.hypot(errorOf(before, base, isTimed) * cost(base), errorOf(after, head, isTimed) * cost(head));
  const isSure = Math.abs(change) > reach;
  const text = changeText(change, isTimed ? "nanoseconds" : "share");
  return {
    value: isSure ? change : null,
    text: isSure ? text : `(${text})`,
    title: `${entry.function} in ${profiled.case}: ${text} ± ${count(isTimed ? reach : 100 * reach)}${isSure ? "" : ", the interval includes 0"}`,
    href: linkOf(entry, profiled, selection),
  };
}

/** The standard error of a cost as a part of what all samples cost: of the share, and of the cost where it is known. */
function errorOf(share: number, side: ProfiledSide, isTimed: boolean): number {
  const samples = Math.max(1, side.samples);
  const counted = Math.max(share, 1 / samples);
  return Math.hypot(
    Math.sqrt((counted * Math.max(0, 1 - counted)) / samples),
    isTimed ? share * side.cpu_error : 0,
  );
}

function linkOf(entry: CostlyFunction, { case: name }: MergedCase, selection: Selection): string {
  return `${stacksUrl({ ...selection, case: name })}&${new URLSearchParams({ function: frameKey(entry) })}`;
}
