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

const SHADES = [1, 0.82, 0.66];
const OBJECT_COLOURS = 5;
const NEUTRAL: Swatch = { property: "--flame-neutral", strength: 1 };

/** From the largest decrease over no change to the largest increase. */
const CHANGE_SWATCHES: Swatch[] = Array.from({ length: 2 * LEVELS + 1 }, (_, place) => {
  const level = place - LEVELS;
  return level === 0
    ? NEUTRAL
    : { property: level > 0 ? "--flame-grew" : "--flame-shrank", strength: Math.abs(level) / LEVELS };
});

const OBJECT_SWATCHES: Swatch[] = [
  NEUTRAL,
  ...Array.from({ length: OBJECT_COLOURS }, (_, object) => object + 1).flatMap((object) =>
    SHADES.map((strength) => ({ property: `--flame-object-${object}`, strength })),
  ),
];

export function changeColouring({ change, sure, largest }: Difference): Colouring {
  const ofNode = Uint8Array.from(change, (cost, node) => {
    const level = at(sure, node) === 0 ? 0 : Math.ceil((Math.abs(cost) / largest) * LEVELS);
    return LEVELS + Math.sign(cost) * level;
  });
  return { swatches: CHANGE_SWATCHES, ofNode };
}

/** Each object file has a colour, while there are colours left, and each of its functions a shade of it. */
export function objectColouring(tree: FlameTree, objects: string[]): Colouring {
  const ofFrame = Uint8Array.from(tree.frames, (frame) => {
    const colour = Math.min(objects.indexOf(frame.object ?? ""), OBJECT_COLOURS - 1);
    return isFunction(frame) ? 1 + colour * SHADES.length + (hash(frame.function) % SHADES.length) : 0;
  });
  return { swatches: OBJECT_SWATCHES, ofNode: Uint8Array.from(tree.frame, (frame) => at(ofFrame, frame)) };
}

/** The object files, the one with the most samples of its own first. */
export function objectsOf(tree: FlameTree): string[] {
  const samples = new Map<string, number>();
  for (const weights of [tree.weights.base, tree.weights.head]) {
    tree.frame.forEach((frame, node) => {
      const object = tree.frames[frame]?.object ?? null;
      if (object !== null) {
        samples.set(object, (samples.get(object) ?? 0) + (weights?.own[node] ?? 0));
      }
    });
  }
  return [...samples].sort((left, right) => right[1] - left[1]).map(([object]) => object);
}

/** The legend of object files; those without a colour of their own share one entry. */
export function objectLegend(objects: string[]): { label: string; swatch: Swatch }[] {
  return objects.slice(0, OBJECT_COLOURS).map((object, place) => ({
    label: place === OBJECT_COLOURS - 1 && objects.length > OBJECT_COLOURS ? "others" : object,
    swatch: { property: `--flame-object-${place + 1}`, strength: 1 },
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
