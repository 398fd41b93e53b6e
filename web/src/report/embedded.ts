/** The data of the page, in script elements. */

import { type Drawings, parsed, type StackSource, UnreadableData } from "../core/cases/documents.ts";
import type { Pictures, StackFrame } from "../core/records.ts";
import type { Sides, Stacks } from "../core/sides.ts";

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
