/** What the page was made with. */

import type { Comparison } from "./document.ts";
import type { RunReport } from "./run-document.ts";

/** A seed may use 64 bits, more than a number here holds: it is read as text. Within strings quotes are escaped. */
const SEED = /(?<!\\)"seed":(\d+)/;

/** The document that this page was made with; throws where there is none. */
export function embeddedDocument(): Comparison | RunReport {
  return documentIn(document.getElementById("document")?.textContent ?? "");
}

export function documentIn(text: string): Comparison | RunReport {
  return JSON.parse(text.replace(SEED, '"seed":"$1"')) as Comparison | RunReport;
}
