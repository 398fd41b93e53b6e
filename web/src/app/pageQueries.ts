/** The queries that pages begin with, by their addresses: they are asked before the scripts of a page are there. */

import type { FlameFrame } from "../core/flame/tree.ts";
import { queryUrl } from "./answers.ts";
import { queryOf, type Selection, selectionOf } from "./stacks/selection.ts";

const MOST_PIXELS = 2000;
export const REPORTS_AT_ONCE = 50;
const SERIES_NAMES = ["case", "group", "metric", "platform", "variant", "history"];
const RANGE_NAMES = ["since", "first", "last"];
const VERSIONS_NAMES = ["history", "metric", "since", "against", "rows"];
const OPPORTUNITIES_NAMES = ["id", "side", "everywhere", "weights"];
/** As many opportunities and cases of each as the query answers. */
export const WHOLE_OPPORTUNITIES = { limit: 500, cases: 1000 };
const REPORTS_NAMES = ["text", "state", "platform", "kind", "before"];
const TRIGGERS_NAMES = ["state", "repository", "number", "cursor", "trigger"];

export const DESCRIPTION = "/openapi.json";
export const OVERVIEW = queryUrl("overview");
export const PLATFORMS = queryUrl("platforms");
export const SERIES_LIST = queryUrl("series-list");
export const STACK_RESULTS = queryUrl("stack-results");

export const requestQuery = (id: string) => queryUrl("request", { id });

/** A comparison or run in short; `asOf` differs whenever it does. */
export const reportQuery = (kind: "comparison" | "run", id: string, asOf: string) =>
  queryUrl(kind, { id, as_of: asOf });

/** All of a case but for its pictures. */
export const caseQuery = (kind: "comparison" | "run", id: string, name: string) =>
  queryUrl(`${kind}-case`, { id, case: name });

/** What is drawn of a case; `query` is the name of the query, or of its table. */
export const picturesQuery = (id: string, name: string, query = "case-pictures") =>
  queryUrl(query, { id, case: name });

/** What a comparison or a run begins with: whether there is a report, and the case that its address names. */
export function reportQueries(
  kind: "comparison" | "run",
  id: string,
  parameters: URLSearchParams,
): readonly string[] {
  const name = parameters.get("case");
  const ofCase = name === null ? [] : [caseQuery(kind, id, name), picturesQuery(id, name)];
  return [requestQuery(id), ...ofCase];
}

/** What the text of the address names, once it is long enough. */
export function searchQuery(parameters: URLSearchParams): string | null {
  const text = (parameters.get("text") ?? "").trim();
  return text.length < 2 ? null : queryUrl("search", { text });
}

export const trialQuery = (number: string) => queryUrl("trial", { number });

/** Whether a name of a commit is the beginning of its id. */
export const isHash = (name: string) => /^[0-9a-f]{4,64}$/.test(name);

export const commitQuery = (commit: string) => queryUrl("commit", { commit });

export const fleetQuery = (requests = 20) => queryUrl("fleet", { limit: requests });

/** A platform, or two of them. */
export function platformQuery(fingerprint: string, other: string | null): string {
  return other === null
    ? queryUrl("platform", { fingerprint })
    : queryUrl("platform-pair", { fingerprint, other });
}

/** The series that the address names; `name` is of the query, or of its table. */
export function seriesQuery(parameters: URLSearchParams, name = "series"): string {
  // A point for each pixel of the chart, in steps, so that a few pixels more ask for nothing new.
  const pixels = Math.min(MOST_PIXELS, Math.ceil(Math.max(320, innerWidth) / 200) * 200);
  const lists = Object.fromEntries(SERIES_NAMES.map((list) => [list, parameters.getAll(list)]));
  return queryUrl(name, { ...lists, ...given(parameters, RANGE_NAMES), pixels });
}

/** Whether the address names any series. */
export function namesSeries(parameters: URLSearchParams): boolean {
  return parameters.has("case") || parameters.has("group");
}

/** The stacks that the address names, as a graph or as a map of functions; without any, what there are stacks of. */
export function stacksQuery(parameters: URLSearchParams): string {
  const selection = selectionOf(parameters);
  if (selection === null) {
    return STACK_RESULTS;
  }
  const { least_share, ...taken } = queryOf(selection);
  return parameters.get("show") === "functions"
    ? queryUrl("stack-functions", taken)
    : queryUrl("stacks", { ...taken, least_share });
}

/** The lines of a function of the stacks; `name` is of the query, or of its table. */
export function stackLinesQuery(selection: Selection, frame: FlameFrame, name = "stack-lines"): string {
  const { least_share, ...taken } = queryOf(selection);
  const { function: named, file, object } = frame;
  return queryUrl(name, { ...taken, function: named, file, object: file === null ? object : null });
}

/** The opportunities of the version that the address names; `name` is of the query, or of its table. */
export function opportunitiesQuery(
  parameters: URLSearchParams,
  name = "opportunities",
  narrowed: Record<string, string | number> = {},
): string {
  return queryUrl(name, { ...given(parameters, OPPORTUNITIES_NAMES), ...narrowed });
}

export const versionsQuery = (parameters: URLSearchParams, name = "versions") =>
  queryUrl(name, given(parameters, VERSIONS_NAMES));

export const reportsQuery = (parameters: URLSearchParams, name = "reports") =>
  queryUrl(name, { ...given(parameters, REPORTS_NAMES), limit: REPORTS_AT_ONCE });

export const snapshotsQuery = (parameters: URLSearchParams, name = "snapshots") =>
  queryUrl(name, given(parameters, ["before"]));

export const snapshotQuery = (id: string) => queryUrl("snapshot", { id });

export const triggersQuery = (parameters: URLSearchParams, name = "triggers") =>
  queryUrl(name, given(parameters, TRIGGERS_NAMES));

function given(parameters: URLSearchParams, names: readonly string[]): Record<string, string | null> {
  return Object.fromEntries(names.map((name) => [name, parameters.get(name)]));
}
