/** A profile as the flame graphs take it. */

import type { CaseCounts } from "../../core/flame/FunctionTable.tsx";
import { waitsText } from "../../core/flame/text.ts";
import { frameKey } from "../../core/flame/tree.ts";
import { count, counted, percent } from "../../core/numbers.ts";
import type { ProfileSide, StackProfile } from "../../core/records.ts";
import type { Sides, Stacks } from "../../core/sides.ts";

/** The stacks of each side; both share the nodes. */
export function sidesOf(profile: StackProfile): Sides<Stacks> {
  const sides: Sides<Stacks> = {};
  for (const side of profile.sides) {
    sides[side.side] = {
      event: profile.events.join(" and "),
      samples: side.samples,
      lost: side.lost,
      cpu_ns_per_op: side.cpu_ns_per_op,
      cpu_error: side.cpu_error,
      threads: profile.threads,
      frames: profile.frames,
      nodes: { ...profile.nodes, samples: side.own },
      variance: side.variance,
    };
  }
  return sides;
}

/** In how many cases each function has samples, none where there is one case only. */
export function caseCountsOf(profile: StackProfile): CaseCounts | undefined {
  const all = new Set(profile.cases.map((profiled) => profiled.case)).size;
  if (all < 2) {
    return undefined;
  }
  const ofFrame = new Map<string, number>();
  profile.frames.forEach((frame, place) => {
    // A function may be inlined in some cases only: then it is in at least as many as the more frequent of both.
    const key = frameKey(frame);
    ofFrame.set(key, Math.max(ofFrame.get(key) ?? 0, profile.frame_cases[place] ?? 0));
  });
  return { ofFrame, all };
}

/** What there is of a side. */
export function sideText(side: ProfileSide, { events, time }: Pick<StackProfile, "events" | "time">): string {
  if (time === "waits") {
    return waitsText(side);
  }
  const lost = side.lost > 0 ? `, ${count(side.lost)} lost` : "";
  const cost = side.cpu_ns_per_op === null ? "" : `, ${count(side.cpu_ns_per_op)} CPU ns per request`;
  return `${counted(side.samples, "sample", "samples")} of ${events.join(" and ")}${lost}${cost}`;
}

/** What was put together because it is small. */
export function prunedText({ pruned_nodes: nodes, least_share: least, sides }: StackProfile): string | null {
  if (nodes === 0) {
    return null;
  }
  const shares = sides.map((side) =>
    sides.length > 1 ? `${side.side} ${percent(side.pruned_share)}` : percent(side.pruned_share),
  );
  return `${counted(nodes, "frame", "frames")} with less than ${percent(least)} of the samples, callees included, are put together as [other] below their callers: ${shares.join(", ")} of the samples.`;
}
