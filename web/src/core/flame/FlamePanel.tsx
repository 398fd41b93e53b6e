import { useMemo, useState } from "preact/hooks";
import type { CaseStacks, StackSource } from "../cases/documents.ts";
import { count, counted } from "../numbers.ts";
import { present, type Sides, type Stacks } from "../sides.ts";
import { linesOf, stackLinesOf } from "./lines.ts";
import { SourceLines } from "./SourceLines.tsx";
import { Choice, StackPanel } from "./StackPanel.tsx";
import { waitsText } from "./text.ts";
import { type FlameFrame, isOffProcessor } from "./tree.ts";
import { Waits } from "./Waits.tsx";

interface Properties {
  source: StackSource;
  /** Whether there is one server only, which is not called a side. */
  alone: boolean;
}

const CPU_TIME = "CPU time";
const WAITS = "waits";

/** The flame graphs of a case: of the time on the processor and off it, of each side and of the difference. */
export function FlamePanel({ source, alone }: Properties) {
  const stacks = useMemo(() => source.read(), [source]);
  const kinds = [
    ...(present(stacks.cpu).length > 0 ? [CPU_TIME] : []),
    ...(present(stacks.waits).length > 0 ? [WAITS] : []),
  ];
  const [wanted, setWanted] = useState(CPU_TIME);
  const kind = kinds.includes(wanted) ? wanted : kinds[0];
  if (kind === undefined) {
    return null;
  }
  return (
    <>
      <h3>{kind === CPU_TIME ? "Where the CPU time goes" : "Where threads wait"}</h3>
      {kinds.length > 1 && <Choice label="Time" values={kinds} chosen={kind} choose={setWanted} />}
      {kind === CPU_TIME ? (
        <CpuTime stacks={stacks} alone={alone} />
      ) : (
        <OffTheProcessor waits={stacks.waits} alone={alone} />
      )}
    </>
  );
}

function CpuTime({ stacks, alone }: { stacks: CaseStacks; alone: boolean }) {
  const { cpu, lines } = stacks;
  return (
    <>
      <SampleTexts sides={cpu} alone={alone} />
      <StackPanel
        sides={cpu}
        alone={alone}
        listed={false}
        lined={lines}
        {...(lines.length === 0
          ? {}
          : { details: (frame: FlameFrame) => <Lines frame={frame} stacks={stacks} /> })}
      />
    </>
  );
}

/** The source lines of a function of the graph, or which functions have some. */
function Lines({ frame, stacks: { cpu, lines, sources } }: { frame: FlameFrame; stacks: CaseStacks }) {
  const known = linesOf(frame, lines);
  if (known === undefined) {
    return (
      <p class="quiet small">
        No source lines of this function are kept here, but those of{" "}
        {counted(lines.length, "function", "functions")}: of those that the report names, and of those with
        the most samples of their own. All are shown by <code>zerolap profile --stored</code>, and by the page
        of stacks.
      </p>
    );
  }
  return <SourceLines answer={stackLinesOf(known, sources, cpu)} />;
}

function OffTheProcessor({ waits, alone }: { waits: Sides<Stacks>; alone: boolean }) {
  return (
    <>
      <SampleTexts sides={waits} alone={alone} />
      <Waits waits={waits} alone={alone} listed={false} />
    </>
  );
}

function SampleTexts({ sides, alone }: { sides: Sides<Stacks>; alone: boolean }) {
  return (
    <p class="quiet small">
      {present(sides)
        .map(([side, stacks]) => (alone ? sampleText(stacks) : `${side}: ${sampleText(stacks)}`))
        .join("; ")}
    </p>
  );
}

/** How many samples there are of a side, or the time that its threads waited, and what its requests cost. */
export function sampleText(stacks: Stacks): string {
  if (isOffProcessor(stacks)) {
    return waitsText(stacks);
  }
  const lost = stacks.lost > 0 ? `, ${count(stacks.lost)} lost` : "";
  const cost = stacks.cpu_ns_per_op === null ? "" : `, ${count(stacks.cpu_ns_per_op)} CPU ns per request`;
  return `${counted(stacks.samples, "sample", "samples")} of ${stacks.event}${lost}${cost}`;
}
