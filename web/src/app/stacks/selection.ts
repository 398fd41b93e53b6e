/** Which stacks the address of the page names. */

export interface Selection {
  /** A comparison or run. */
  id: string | null;
  case: string | null;
  /** The name or fingerprint of a platform, whose newest results are merged. */
  platform: string | null;
  /** How many results are merged. */
  newest: string | null;
  weights: "time" | "case";
  leastShare: string | null;
  /** Of the time on the processor, or of waits. */
  time: "cpu" | "waits";
}

/** What the address names, null where it names nothing and results are to be chosen from. */
export function selectionOf(parameters: URLSearchParams): Selection | null {
  const given = (name: string) => {
    const text = parameters.get(name);
    return text === "" ? null : text;
  };
  const id = given("id");
  const newest = given("newest");
  const platform = given("platform");
  if (id === null && newest === null && platform === null) {
    return null;
  }
  return {
    id,
    case: given("case"),
    platform: id === null ? platform : null,
    newest: id === null ? newest : null,
    weights: parameters.get("weights") === "case" ? "case" : "time",
    leastShare: given("least_share"),
    time: parameters.get("time") === "waits" ? "waits" : "cpu",
  };
}

/** The parameters of the selection, as queries and exports take them. */
export function queryOf(selection: Selection): Record<string, string | null> {
  const { id, platform, newest, weights, leastShare, time } = selection;
  return { id, case: selection.case, platform, newest, weights, time, least_share: leastShare };
}

/** What an address leaves out. */
const USUAL: Record<string, string> = { weights: "time", time: "cpu" };

/** The address of the page for a selection. */
export function stacksUrl(selection: Partial<Selection>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(selection)) {
    if (value !== null && value !== undefined && USUAL[name] !== value) {
      parameters.set(name === "leastShare" ? "least_share" : name, value);
    }
  }
  return `/stacks?${parameters}`;
}
