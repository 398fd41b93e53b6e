/** Links to series and commits. */

/** What a link to series names; all of it may be left out but the cases or groups. */
export interface SeriesLink {
  case?: string | readonly string[];
  group?: string;
  metric?: string;
  history?: number;
  platform?: string;
  first?: string;
  last?: string;
  since?: string;
}

export function seriesUrl(link: SeriesLink): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(link)) {
    for (const part of Array.isArray(value) ? value : [value]) {
      if (part !== undefined && part !== "") {
        parameters.append(name, String(part));
      }
    }
  }
  return `/series?${parameters}`;
}

export function commitUrl(commit: string): string {
  return `/commits/${commit}`;
}
