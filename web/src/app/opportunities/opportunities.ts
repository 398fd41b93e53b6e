/** Opportunities in words, their filters, and where they lead to. */

import { frameKey } from "../../core/flame/tree.ts";
import { change, count, counted, share } from "../../core/numbers.ts";
import type {
  BuildVariant,
  Calibration,
  Estimate,
  ListedOpportunities,
  ListedOpportunity,
  OpportunityCase,
  StatedWeights,
} from "../../core/records.ts";
import { stacksUrl } from "../stacks/selection.ts";

/** What opportunities are filtered by; "" stands for all. */
export interface OpportunityFilter {
  category: string;
  detector: string;
  command: string;
}

export const FILTERS = ["category", "detector", "command"] as const;

export function filterOf(parameters: URLSearchParams): OpportunityFilter {
  const [category = "", detector = "", command = ""] = FILTERS.map((name) => parameters.get(name) ?? "");
  return { category, detector, command };
}

/** The values that there are of an opportunity by the name of a filter. */
export function valuesOf(of: ListedOpportunity, name: keyof OpportunityFilter): readonly string[] {
  return name === "command" ? of.commands : [of[name]];
}

/** The opportunities that pass all filters, in their order. */
export function filtered(
  opportunities: readonly ListedOpportunity[],
  filter: OpportunityFilter,
): ListedOpportunity[] {
  return opportunities.filter((of) =>
    FILTERS.every((name) => filter[name] === "" || valuesOf(of, name).includes(filter[name])),
  );
}

/** What all opportunities together would save. */
export function headline({
  all_opportunities,
  refuted_opportunities: refuted,
  cases,
  saved_share,
  weights,
}: Pick<
  ListedOpportunities,
  "all_opportunities" | "refuted_opportunities" | "cases" | "saved_share" | "weights"
>): string {
  const ofCases = counted(cases.length, "case", "cases");
  const number = all_opportunities - refuted;
  const besides = refuted === 0 ? "" : `; ${counted(refuted, "more is", "more are")} refuted by arguments`;
  if (number === 0) {
    return `Nothing was detected to optimise in ${ofCases}${besides}.`;
  }
  const places = counted(number, "opportunity", "opportunities");
  return `${places} in ${ofCases}: together ${share(saved_share)} of the work of a request, ${weighting(weights)}${besides}.`;
}

function weighting({ kind }: StatedWeights): string {
  const words: Partial<Record<StatedWeights["kind"], string>> = {
    command: "each command weighted equally",
    equal: "each case weighted equally",
  };
  return words[kind] ?? "weighted by priority";
}

/** Parts from which on one decimal of a percentage is enough. */
const SMALL = 0.005;
/** What has to be left of a saving for it to count as all of it. */
const MUCH = 0.9;

/** Whether nearly all of an opportunity is left once those before it are done. */
export function isAllLeft(of: ListedOpportunity): boolean {
  return of.additional_share >= MUCH * of.saved_share.expected;
}

/** What an opportunity saves over all cases, its bounds, and what is left of it after those before; each on one line. */
export function savedTexts(of: ListedOpportunity) {
  const saved = of.saved_share;
  const decimals = saved.high >= SMALL ? 1 : 2;
  const part = (value: number) => (value * 100).toFixed(decimals);
  return {
    saved: unbroken(`${part(saved.expected)} %`),
    bounds: unbroken(`${part(saved.low)} to ${part(saved.high)} %`),
    left: isAllLeft(of) ? "all of it" : unbroken(`${part(of.additional_share)} %`),
  };
}

/** How the savings of known edits compare with what "it", a detector, predicted. */
export function knownEditsText(calibration: Calibration): string {
  if (calibration.smallest_ratio !== null && calibration.largest_ratio !== null) {
    return `${knownEdits(calibration.edits)} saved ${ratios(calibration)} times what it predicted`;
  }
  return calibration.uncounted_edits > 0
    ? `${knownEdits(calibration.uncounted_edits)}: what is saved is mostly not counted, and tests no prediction`
    : "no known edit tests what it predicts";
}

/** The same beside a prediction. */
export function knownEditsInShort(calibration: Calibration): string {
  if (calibration.edits > 0) {
    return `${knownEdits(calibration.edits)}: ${ratios(calibration)} times that`;
  }
  return calibration.uncounted_edits > 0
    ? `${knownEdits(calibration.uncounted_edits)}, not counted`
    : "no known edit";
}

function knownEdits(number: number): string {
  return counted(number, "known edit", "known edits");
}

function ratios({ smallest_ratio: smallest, largest_ratio: largest }: Calibration): string {
  return [...new Set([smallest, largest].map((ratio) => (ratio ?? 0).toFixed(2)))].join(" to ");
}

function unbroken(text: string): string {
  return text.replaceAll(" ", "\u00a0");
}

/** What a change would save in a case. */
export function savingText({
  saved_instructions_per_op: saved,
  uncounted_instructions_per_op: uncounted,
  instructions_per_op: all,
  saved_share: part,
}: OpportunityCase): string {
  const bounds = `${count(saved.expected)} (${count(saved.low)} to ${count(saved.high)})`;
  if (uncounted.expected === 0) {
    return `${share(saved.expected / all)} fewer instructions: ${bounds} of ${count(all)}`;
  }
  const counted = count(saved.expected - uncounted.expected);
  return `${share(part.expected)} less work: ${bounds} instructions, ${counted} of them of the ${count(all)} that are counted`;
}

/** By how much the throughput of a case would grow as far as instructions decide it. */
export function gainText({ gain }: OpportunityCase): string {
  const [expected, low, high] = [gain.expected, gain.low, gain.high].map((part) => unbroken(change(part)));
  return `throughput ${expected} (${low} to ${high})`;
}

/** By how much another build is faster, with its interval; less than 0 is slower. */
export function fasterText({ low, expected, high }: Estimate): string {
  const part = (value: number) => `${value < 0 ? "" : "+"}${(value * 100).toFixed(1)}`;
  return `${unbroken(`${part(expected)} %`)} ${unbroken(`(${part(low)} to ${part(high)} %)`)}`;
}

/** The words of a variant, or what a build without such was built with. */
export function variantName({ variant, flags, compiler, allocator }: BuildVariant): string {
  return variant || flags || allocator || compiler;
}

/** What a figure of the evidence is called. */
export function evidenceName(name: string): string {
  return name.replaceAll("_per_op", " per request").replaceAll("_", " ");
}

/** A function of the server is known by its file, one of a library or a program without lines by that. */
export function functionStacksUrl(
  id: string,
  name: string | null,
  named: { function: string; file: string },
): string {
  const isObject = /\.so\b/.test(named.file) || !named.file.includes(".");
  const frame = { function: named.function, file: isObject ? null : named.file, object: named.file };
  const selection = name === null ? { id } : { id, case: name };
  return `${stacksUrl(selection)}&${new URLSearchParams({ function: frameKey(frame) })}`;
}

/** Where a comparison or run shows a case. */
export function caseUrl(id: string, name: string): string {
  return `/${id.startsWith("r-") ? "runs" : "comparisons"}/${id}?${new URLSearchParams({ case: name })}`;
}
