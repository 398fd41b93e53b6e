/** The data of the page, in script elements; all but the document are compressed. */

import { inflateSync, strFromU8 } from "fflate";
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
      { ...drawn, stacks: sources.get(name) ?? null },
    ]),
  );
}

function stacksIn(text: string, frames: StackFrame[]): Sides<Stacks> {
  const subject = "The data of this flame graph";
  const stacks = parsed<Sides<Stacks>>(inflated(text, subject), subject);
  for (const side of Object.values(stacks)) {
    side.frames = frames;
  }
  return stacks;
}

const FRAMES = "The list of functions of the flame graphs";

let frames: StackFrame[] | null = null;

/** The functions of all stacks of the page, parsed with the first stacks. */
function embeddedFrames(): StackFrame[] {
  frames ??= parsed<StackFrame[]>(inflated(textOf("frames"), FRAMES), FRAMES);
  return frames;
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
