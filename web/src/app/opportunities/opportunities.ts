/** The filters of opportunities, and where they lead to. */

import { frameKey } from "../../core/flame/tree.ts";
import type { ListedOpportunity } from "../../core/records.ts";
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
