/** The source lines that a report has of some functions of its stacks. */

import type { LineShare, SampledLines, SourceText, StackLines } from "../records.ts";
import { present, type Sides, type Stacks } from "../sides.ts";
import { type FlameFrame, frameKey } from "./tree.ts";

/** The lines of a function, with shares and times as the page of stacks has them. */
export function stackLinesOf(
  lines: SampledLines,
  sources: readonly SourceText[],
  stacks: Sides<Stacks>,
): StackLines {
  const sides = present(lines.sides).map(([side, of]) => ({ side, of, cost: costOf(stacks, side) }));
  return {
    function: lines.function,
    file: lines.file,
    sides: sides.map(({ side, of, cost }) => ({
      side,
      own: of.own,
      share: part(of.own, of.samples),
      cpu_ns_per_op: cost === null ? null : part(of.own, of.samples) * cost,
      passes: of.passes,
      lined_passes: of.lined_passes,
    })),
    lines: lines.source.map((source, place) => ({
      file: sources[source]?.file ?? "",
      text: sources[source]?.text ?? null,
      sides: sides.map(({ side, of, cost }): LineShare => {
        const samples = lines.own[side]?.[place] ?? 0;
        return {
          side,
          line: lines.line[side]?.[place] ?? null,
          samples,
          share: part(samples, of.own),
          cpu_ns_per_op: cost === null ? null : part(samples, of.samples) * cost,
        };
      }),
    })),
    left_out: lines.left_out,
  };
}

/** The lines of a function of a graph; undefined where there are none of it. */
export function linesOf(frame: FlameFrame, lines: readonly SampledLines[]): SampledLines | undefined {
  const key = frameKey(frame);
  return lines.find((known) => frameKey(known) === key);
}

function costOf(stacks: Sides<Stacks>, side: "base" | "head"): number | null {
  return stacks[side]?.cpu_ns_per_op ?? null;
}

function part(samples: number, all: number): number {
  return all > 0 ? samples / all : 0;
}
