/** The data of the page, in script elements; all but the document are compressed. */

import { inflateSync, strFromU8 } from "fflate";
import {
  type CaseStacks,
  type Drawings,
  parsed,
  type StackSource,
  UnreadableData,
  withFrames,
  withStackSource,
} from "../core/cases/documents.ts";
import type { CaseList, CasePictures, Pictures, Section, Sheet, StackFrame } from "../core/records.ts";

const PICTURES_SCHEMA: Pictures["schema"] = "zerolap.pictures/1";

/** The text of the document that the page was made from. */
export function documentText(): string {
  return textOf("document");
}

/** What is drawn of the cases; throws `UnreadableData`. */
export function embeddedDrawings(): Drawings {
  const sources = new Map<string, StackSource>();
  for (const element of document.querySelectorAll<HTMLScriptElement>("script.stacks")) {
    const text = () => element.textContent ?? "";
    const name = element.dataset.case ?? "";
    sources.set(name, { text, read: () => stacksIn(text(), name) });
  }
  return drawingsIn(inflated(textOf("pictures"), "The data of the charts"), sources);
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
      withStackSource(drawn, sources.get(name) ?? null),
    ]),
  );
}

/** The sheet of a document, or the list of its cases; throws `UnreadableData`. */
export function embeddedSheet<Data extends Sheet | CaseList>(): Data {
  return parsed<Data>(inflated(textOf("sheet"), TEXT), TEXT);
}

const TEXT = "The text of this report";
let details: Record<string, Section> | null = null;

/** All of a case, parsed with the first one that is asked for; throws `UnreadableData`. */
export function embeddedDetails(name: string): Section {
  details ??= parsed<Record<string, Section>>(inflated(textOf("details"), TEXT), TEXT);
  const found = details[name];
  if (found === undefined) {
    throw new UnreadableData(`This report has nothing on the case ${name}.`);
  }
  return found;
}

function stacksIn(text: string, name: string): CaseStacks {
  const subject = "The data of this flame graph";
  const { stacks, waits } = parsed<Pick<CasePictures, "stacks" | "waits">>(inflated(text, subject), subject);
  const frames = embeddedFrames();
  const { sources, cases } = embeddedLines();
  return {
    cpu: withFrames(stacks, frames),
    waits: withFrames(waits, frames),
    lines: cases[name] ?? [],
    sources,
  };
}

const FRAMES = "The list of functions of the flame graphs";
const LINES = "The source lines of the flame graphs";

/** The source lines of the functions of all cases. */
type EmbeddedLines = Pick<Pictures, "sources"> & { cases: Record<string, CasePictures["lines"]> };

let frames: StackFrame[] | null = null;
let lines: EmbeddedLines | null = null;

/** The functions of all stacks of the page, parsed with the first stacks. */
function embeddedFrames(): StackFrame[] {
  frames ??= parsed<StackFrame[]>(inflated(textOf("frames"), FRAMES), FRAMES);
  return frames;
}

/** The lines of all functions of the page, parsed with the first stacks. */
function embeddedLines(): EmbeddedLines {
  lines ??= parsed<EmbeddedLines>(inflated(textOf("lines"), LINES), LINES);
  return lines;
}

function textOf(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

/** Data as `compressed` of python/zerolap/report/html.py has written them; throws `UnreadableData`. */
function inflated(text: string, subject: string): string {
  try {
    return strFromU8(inflateSync(Uint8Array.from(atob(text), (character) => character.charCodeAt(0))));
  } catch (fault) {
    throw new UnreadableData(`${subject} cannot be read: ${(fault as Error).message}.`, { cause: fault });
  }
}
