/** The data of the page, in script elements. */

import type {
  CasePictures,
  Comparison,
  Pictures,
  ReportList,
  RequestStatus,
  RunReport,
  StackFrame,
} from "./records.ts";
import type { Sides, Stacks } from "./sides.ts";

export const COMPARISON_SCHEMA: Comparison["schema"] = "zerolap.comparison/1";
export const RUN_SCHEMA: RunReport["schema"] = "zerolap.run/1";
export const REPORT_LIST_SCHEMA: ReportList["schema"] = "zerolap.report-list/1";
export const REQUEST_STATUS_SCHEMA: RequestStatus["schema"] = "zerolap.request-status/1";
const SCHEMAS: readonly string[] = [COMPARISON_SCHEMA, RUN_SCHEMA, REPORT_LIST_SCHEMA, REQUEST_STATUS_SCHEMA];
const PICTURES_SCHEMA: Pictures["schema"] = "zerolap.pictures/1";

/** A seed of 64 bits exceeds a number and is read as text; within strings quotes are escaped. */
const SEED = /(?<!\\)"seed":(\d+)/;

/** Data that cannot be shown; the message is for the reader of the page. */
export class UnreadableData extends Error {}

/** The stacks of a case, which are large: they are parsed when they are shown. */
export interface StackSource {
  /** Parses the stacks; throws `UnreadableData`. */
  read: () => Sides<Stacks>;
  text: () => string;
}

/** What is drawn of a case. */
export type CaseDrawings = Omit<CasePictures, "stacks"> & { stacks: StackSource | null };

/** What is drawn of each case, by name; cases without drawings are left out. */
export type Drawings = ReadonlyMap<string, CaseDrawings>;

/** The text of the document that the page was made from. */
export function documentText(): string {
  return textOf("document");
}

/** The documents that a page can be made from. */
export type PageDocument = Comparison | RunReport | ReportList | RequestStatus;

/** Parses a document; throws `UnreadableData`. */
export function documentIn(text: string): PageDocument {
  const document = parsed<PageDocument>(text.replace(SEED, '"seed":"$1"'), "The document of this report");
  const schema: string | undefined = document?.schema;
  if (schema === undefined || !SCHEMAS.includes(schema)) {
    throw new UnreadableData(
      `The document of this report has the schema ${JSON.stringify(schema ?? null)}. This page can show ${SCHEMAS.join(", ")}.`,
    );
  }
  return document;
}

/** What is drawn of the cases; throws `UnreadableData`. */
export function embeddedDrawings(): Drawings {
  const sources = new Map<string, StackSource>();
  for (const element of document.querySelectorAll<HTMLScriptElement>("script.stacks")) {
    const text = () => element.textContent ?? "";
    sources.set(element.dataset.case ?? "", { text, read: () => stacksIn(text(), embeddedFrames()) });
  }
  return drawingsIn(textOf("pictures"), sources);
}

/** Joins the pictures with the sources of the stacks; throws `UnreadableData`. */
export function drawingsIn(text: string, sources: ReadonlyMap<string, StackSource>): Drawings {
  const pictures = parsed<Pictures>(text, "The data of the charts");
  if (pictures?.schema !== PICTURES_SCHEMA) {
    throw new UnreadableData(`The data of the charts does not have the schema ${PICTURES_SCHEMA}.`);
  }
  return new Map(
    Object.entries(pictures.cases).map(([name, drawn]) => [
      name,
      { ...drawn, stacks: sources.get(name) ?? null },
    ]),
  );
}

function stacksIn(text: string, frames: StackFrame[]): Sides<Stacks> {
  const stacks = parsed<Sides<Stacks>>(text, "The data of this flame graph");
  for (const side of Object.values(stacks)) {
    side.frames = frames;
  }
  return stacks;
}

let frames: StackFrame[] | null = null;

/** The functions of all stacks of the page, parsed with the first stacks. */
function embeddedFrames(): StackFrame[] {
  frames ??= parsed<StackFrame[]>(textOf("frames"), "The list of functions of the flame graphs");
  return frames;
}

function textOf(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

function parsed<Data>(text: string, subject: string): Data {
  try {
    return JSON.parse(text) as Data;
  } catch (fault) {
    throw new UnreadableData(`${subject} is not valid JSON: ${(fault as Error).message}.`, { cause: fault });
  }
}
