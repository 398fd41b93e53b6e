import { useMemo } from "preact/hooks";
import type { StackSource } from "../cases/documents.ts";
import { count, counted } from "../numbers.ts";
import { present, type Stacks } from "../sides.ts";
import { StackPanel } from "./StackPanel.tsx";

interface Properties {
  source: StackSource;
  /** Whether there is one server only, which is not called a side. */
  alone: boolean;
}

/** The flame graphs of a case: of each side, and of the difference between them. */
export function FlamePanel({ source, alone }: Properties) {
  const sides = useMemo(() => source.read(), [source]);
  if (present(sides).length === 0) {
    return null;
  }
  return (
    <>
      <h3>Where the CPU time goes</h3>
      <p class="quiet small">
        {present(sides)
          .map(([side, stacks]) => (alone ? sampleText(stacks) : `${side}: ${sampleText(stacks)}`))
          .join("; ")}
      </p>
      <StackPanel sides={sides} alone={alone} listed={false} />
    </>
  );
}

/** How many samples there are of a side, and what its requests cost. */
export function sampleText(stacks: Stacks): string {
  const lost = stacks.lost > 0 ? `, ${count(stacks.lost)} lost` : "";
  const cost = stacks.cpu_ns_per_op === null ? "" : `, ${count(stacks.cpu_ns_per_op)} CPU ns per request`;
  return `${counted(stacks.samples, "sample", "samples")} of ${stacks.event}${lost}${cost}`;
}
