/** Search for frames by a part of their names or by a /regular expression/. */

import { at, type FlameFrame, type FlameTree, isFunction } from "./tree.ts";

export type Matcher = (frame: FlameFrame) => boolean;

/** The matcher of a text, null for an empty one; throws `SyntaxError` for an invalid expression. */
export function matcher(text: string): Matcher | null {
  const wanted = text.trim();
  if (wanted === "" || wanted === "/") {
    return null;
  }
  const expression = /^\/(.+?)\/?$/.exec(wanted)?.[1];
  if (expression !== undefined) {
    const pattern = new RegExp(expression, "i");
    return (frame) => pattern.test(frame.function) || pattern.test(frame.file ?? "");
  }
  const part = wanted.toLowerCase();
  return (frame) => `${frame.function}\n${frame.file ?? ""}`.toLowerCase().includes(part);
}

/** Which nodes match, as 0 and 1. */
export function matches(tree: FlameTree, isMatch: Matcher): Uint8Array {
  const frames = Uint8Array.from(tree.frames, (frame) => Number(isFunction(frame) && isMatch(frame)));
  return Uint8Array.from(tree.frame, (frame) => at(frames, frame));
}

/** The samples in whose stacks anything matches; a stack counts once. */
export function matchedSamples(tree: FlameTree, matched: Uint8Array, inclusive: Float64Array): number {
  const covered = matched.slice();
  let sum = at(matched, 0) * at(inclusive, 0);
  for (let node = 1; node < matched.length; node++) {
    if (at(covered, at(tree.parent, node)) === 1) {
      covered[node] = 1;
    } else if (at(matched, node) === 1) {
      sum += at(inclusive, node);
    }
  }
  return sum;
}
