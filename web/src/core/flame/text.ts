/** Names and costs of nodes and functions in words. */

import { count, percent } from "../numbers.ts";
import { present, type Sides } from "../sides.ts";
import { type Cost, costs, reachOf, shareOf, type Unit } from "./difference.ts";
import { at, type FlameTree, type SideWeights } from "./tree.ts";

/** A text of at most so many letters. */
export function cut(text: string, letters: number): string {
  return text.length <= letters ? text : `${text.slice(0, letters - 1)}…`;
}

/** A change of cost, with its sign. */
export function changeText(change: number, unit: Unit): string {
  const sign = change > 0 ? "+" : "";
  return unit === "nanoseconds" ? `${sign}${count(change)} ns` : `${sign}${count(change * 100)} points`;
}

/** A change with its interval, as `+5 ns ± 2`; grey frames are those whose interval includes 0. */
export function changeWithInterval(change: number, reach: number, unit: Unit): string {
  return `${changeText(change, unit)} ± ${count(unit === "nanoseconds" ? reach : reach * 100)}`;
}

/** The text of one side, or of both as `base → head`. */
export function bothSides(weights: Sides<SideWeights>, text: (side: SideWeights) => string): string {
  return present(weights)
    .map(([, side]) => text(side))
    .join(" → ");
}

/** A function with its file, object and whether it was inlined. */
export function nameOf(tree: FlameTree, node: number): string {
  const frame = tree.frames[at(tree.frame, node)];
  const inlined = at(tree.inlined, node) === 1 ? "inlined" : null;
  return [frame?.function, frame?.file, frame?.object, inlined].filter(Boolean).join(" · ");
}

export const NS_PER_MS = 1e6;

/** What the samples of a tree are: those of the processor, or the time off it. */
export function subjectOf({ base, head }: Sides<SideWeights>): string {
  return (head ?? base)?.isOffProcessor ? "the time off the processor" : "all samples";
}

/** How long threads waited, in all and in a request. */
export function waitsText(of: { samples: number; lost: number; cpu_ns_per_op: number | null }): string {
  const lost = of.lost > 0 ? `, ${count(of.lost)} lost` : "";
  const cost =
    of.cpu_ns_per_op === null ? "" : `, ${count(of.cpu_ns_per_op)} ns off the processor per request`;
  return `waits of ${count(of.samples / NS_PER_MS)} ms${lost}${cost}`;
}

/** Shares and times of a node off the processor. */
function waitText({ weights }: FlameTree, node: number): string {
  const milliseconds = (of: (side: SideWeights) => number) =>
    bothSides(weights, (side) => `${count(of(side) / NS_PER_MS)} ms`);
  const share = bothSides(weights, (side) => percent(shareOf(at(side.inclusive, node), side)));
  const inclusive = milliseconds((side) => at(side.inclusive, node));
  const parts = [
    `${share} of ${subjectOf(weights)}`,
    `${inclusive}, ${milliseconds((side) => at(side.own, node))} self`,
  ];
  if (present(weights).every(([, side]) => side.nanoseconds !== null)) {
    const times = bothSides(weights, (side) =>
      count(shareOf(at(side.inclusive, node), side) * (side.nanoseconds ?? 0)),
    );
    parts.push(`${times} ns per request`);
  }
  return parts.join(" · ");
}

/** The samples, share and cost of a node. */
export function costText(tree: FlameTree, node: number): string {
  const { weights } = tree;
  if (present(weights).some(([, side]) => side.isOffProcessor)) {
    return waitText(tree, node);
  }
  const own = bothSides(weights, (side) => count(at(side.own, node)));
  const inclusive = bothSides(weights, (side) => count(at(side.inclusive, node)));
  const share = bothSides(weights, (side) => percent(shareOf(at(side.inclusive, node), side)));
  const parts = [`${share} of all samples`, `${inclusive} samples, ${own} self`];
  const { base, head } = weights;
  if (base && head) {
    const cost: Cost = costs(base, head);
    const before = shareOf(at(base.inclusive, node), base) * cost.base;
    const after = shareOf(at(head.inclusive, node), head) * cost.head;
    const weighed = (side: SideWeights) => ({
      samples: at(side.inclusive, node),
      variance: at(side.variance, node),
    });
    const reach = reachOf(weighed(base), weighed(head), [base, head], cost);
    const change = changeWithInterval(after - before, reach, cost.unit);
    parts.push(
      cost.unit === "nanoseconds" ? `${count(before)} → ${count(after)} ns per request (${change})` : change,
    );
  } else {
    const side = base ?? head;
    if (side && side.nanoseconds !== null) {
      parts.push(`${count(shareOf(at(side.inclusive, node), side) * side.nanoseconds)} ns per request`);
    }
  }
  return parts.join(" · ");
}
