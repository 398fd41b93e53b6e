import { useMemo, useState } from "preact/hooks";
import type { CaseStacks, StackSource } from "../cases/documents.ts";
import { count, counted } from "../numbers.ts";
import { present, type SideName, type Sides, type Stacks } from "../sides.ts";
import { linesOf, stackLinesOf } from "./lines.ts";
import { SourceLines } from "./SourceLines.tsx";
import { Choice, StackPanel } from "./StackPanel.tsx";
import { NS_PER_MS } from "./text.ts";
import { type FlameFrame, isOffProcessor } from "./tree.ts";

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
        <Waits waits={stacks.waits} alone={alone} />
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

/** The stacks of waits, one side at a time: of what their times are made is not known, nor whether they differ. */
function Waits({ waits, alone }: { waits: Sides<Stacks>; alone: boolean }) {
  const names = present(waits).map(([side]) => side);
  const [wanted, setWanted] = useState<SideName>("head");
  const side = names.includes(wanted) ? wanted : (names[0] ?? "head");
  const shown = useMemo(() => ({ [side]: waits[side] }) as Sides<Stacks>, [waits, side]);
  return (
    <>
      <p class="quiet small">
        Stacks in which threads leave the processor, by the time until they run again; a thread that waits for
        requests is off the processor too.
      </p>
      <SampleTexts sides={waits} alone={alone} />
      {names.length > 1 && <Choice label="Side" values={names} chosen={side} choose={setWanted} />}
      <StackPanel key={side} sides={shown} alone={alone} listed={false} />
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
  const lost = stacks.lost > 0 ? `, ${count(stacks.lost)} lost` : "";
  const cost = stacks.cpu_ns_per_op === null ? null : count(stacks.cpu_ns_per_op);
  if (isOffProcessor(stacks)) {
    const waits = `waits of ${count(stacks.samples / NS_PER_MS)} ms${lost}`;
    return cost === null ? waits : `${waits}, ${cost} ns off the processor per request`;
  }
  const samples = `${counted(stacks.samples, "sample", "samples")} of ${stacks.event}${lost}`;
  return cost === null ? samples : `${samples}, ${cost} CPU ns per request`;
}
