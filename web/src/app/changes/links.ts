/** Links to series and commits, and the command that accepts a change. */

import type { ListedChange } from "../../core/records.ts";

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

const COMMIT_CHARACTERS = 12;

/** The command that accepts a change, in all metrics of its case; a drift is accepted at its last commit. */
export function acceptCommand({ commit, case: name }: Pick<ListedChange, "commit" | "case">): string | null {
  if (commit === null) {
    return null;
  }
  const change = `${commit.commit.slice(0, COMMIT_CHARACTERS)}:${name}`;
  return `zerolap history ack ${shellWord(change)} --reason '…'`;
}

/** A word for a shell: names of cases may hold anything. */
function shellWord(text: string): string {
  return /^[\w.:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
