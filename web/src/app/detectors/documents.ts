/** The pages of docs/detectors, which the bundle carries as the texts that they are. */

const TEXTS = import.meta.glob<string>("../../../../docs/detectors/*.md", {
  query: "?raw",
  import: "default",
});

const BY_NAME = new Map(
  Object.entries(TEXTS).map(([path, load]) => [path.slice(path.lastIndexOf("/") + 1, -".md".length), load]),
);

/** The text of a detector's page; null for one without, such as that of a plugin. */
export function detectorText(name: string): Promise<string> | null {
  return BY_NAME.get(name)?.() ?? null;
}

/** Where a detector has its page; null where it has none. */
export function detectorUrl(name: string): string | null {
  return BY_NAME.has(name) ? `/detectors/${encodeURIComponent(name)}` : null;
}

export const DETECTORS: readonly string[] = [...BY_NAME.keys()].sort();
