/** Which colour a node has; the colours themselves are properties of the style. */

import type { Difference } from "./difference.ts";
import { at, type FlameTree, isFunction } from "./tree.ts";

/** A colour of the style, blended over the background with this strength. */
export interface Swatch {
  property: string;
  strength: number;
}

export interface Colouring {
  swatches: Swatch[];
  /** The number of a node's swatch. */
  ofNode: Uint8Array;
}

/** Changes have so many shades per direction. */
export const LEVELS = 4;

const SHADES = [1, 0.88, 0.76, 0.64, 0.52];
const NEUTRAL: Swatch = { property: "--flame-neutral", strength: 1 };

/** From the largest decrease over no change to the largest increase. */
const CHANGE_SWATCHES: Swatch[] = Array.from({ length: 2 * LEVELS + 1 }, (_, place) => {
  const level = place - LEVELS;
  return level === 0
    ? NEUTRAL
    : { property: level > 0 ? "--flame-grew" : "--flame-shrank", strength: Math.abs(level) / LEVELS };
});

/** What code a frame is of, each with a hue of its own. */
export const KINDS = ["server", "inlined", "libraries", "kernel", "other"] as const;
export type Kind = (typeof KINDS)[number];

const PROPERTIES: Record<Kind, string> = {
  server: "--flame-object-1",
  libraries: "--flame-object-2",
  kernel: "--flame-object-3",
  inlined: "--flame-object-4",
  other: "--flame-object-5",
};

const KIND_SWATCHES: Swatch[] = [
  NEUTRAL,
  ...KINDS.flatMap((kind) => SHADES.map((strength) => ({ property: PROPERTIES[kind], strength }))),
];

export function changeColouring({ change, sure, largest }: Difference): Colouring {
  const ofNode = Uint8Array.from(change, (cost, node) => {
    const level = at(sure, node) === 0 ? 0 : Math.ceil((Math.abs(cost) / largest) * LEVELS);
    return LEVELS + Math.sign(cost) * level;
  });
  return { swatches: CHANGE_SWATCHES, ofNode };
}

/** Each kind of code has a hue, and each function a shade of it that its name alone decides. */
export function kindColouring(tree: FlameTree): Colouring {
  const shades = Uint8Array.from(tree.frames, (frame) => hash(frame.function) % SHADES.length);
  const kinds = tree.frames.map((frame) => KINDS.indexOf(kindOf(frame.object)));
  const ofNode = Uint8Array.from(tree.frame, (frame, node) => {
    const known = tree.frames[frame];
    if (known === undefined || !isFunction(known)) {
      return 0;
    }
    const kind = at(tree.inlined, node) === 1 ? KINDS.indexOf("inlined") : at(kinds, frame);
    return 1 + kind * SHADES.length + at(shades, frame);
  });
  return { swatches: KIND_SWATCHES, ofNode };
}

/** What code the object of a frame holds: `[kernel]` and its modules, shared libraries, or the server's program. */
export function kindOf(object: string | null): Kind {
  if (object === null) {
    return "other";
  }
  if (object.startsWith("[")) {
    return object === "[kernel]" || object.endsWith(".ko]")
      ? "kernel"
      : object === "[vdso]"
        ? "libraries"
        : "other";
  }
  if (object.endsWith(".ko")) {
    return "kernel";
  }
  return /\.so(\.|$)/.test(object) ? "libraries" : "server";
}

/** The kinds that a tree has, with their colours. */
export function kindLegend(tree: FlameTree): { kind: Kind; swatch: Swatch }[] {
  const { ofNode } = kindColouring(tree);
  const used = new Set(Array.from(ofNode, (swatch) => Math.floor((swatch - 1) / SHADES.length)));
  return KINDS.filter((_, place) => used.has(place)).map((kind) => ({
    kind,
    swatch: { property: PROPERTIES[kind], strength: 1 },
  }));
}

export function changeLegend(): Swatch[] {
  return CHANGE_SWATCHES;
}

/** A colour laid over a ground, both as #rrggbb, as a pixel: red is the lowest byte, opacity the highest. */
export function mixed(ground: string, colour: string, strength: number): number {
  const part = (text: string, place: number) => Number.parseInt(text.slice(place, place + 2), 16);
  const channel = (place: number) =>
    Math.round(part(ground, place) + (part(colour, place) - part(ground, place)) * strength);
  return ((255 << 24) | (channel(5) << 16) | (channel(3) << 8) | channel(1)) >>> 0;
}

function hash(text: string): number {
  let sum = 7;
  for (let place = 0; place < text.length; place++) {
    sum = (sum * 31 + text.charCodeAt(place)) >>> 0;
  }
  return sum;
}
