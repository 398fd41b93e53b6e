import { LatencyChart } from "../charts/LatencyChart.tsx";
import { ThroughputChart } from "../charts/ThroughputChart.tsx";
import { ErrorBoundary } from "../ErrorBoundary.tsx";
import { FlamePanel } from "../flame/FlamePanel.tsx";
import type { CaseDrawings, StackSource } from "./documents.ts";

/** The charts of a case that has any. */
export function Charts({ drawings }: { drawings: CaseDrawings }) {
  const { latency, throughput, starts_at } = drawings;
  if (latency === null && throughput === null) {
    return null;
  }
  return (
    <div class="pictures">
      <LatencyChart {...latency} />
      <ThroughputChart sides={throughput ?? {}} startsAt={starts_at} />
    </div>
  );
}

/** The flame graph of a case; a fault in its stacks does not affect the rest of the case. */
export function FlameGraphs({ source, alone = false }: { source: StackSource; alone?: boolean }) {
  return (
    <ErrorBoundary subject="The flame graph" data={source.text} file="stacks.json">
      <FlamePanel source={source} alone={alone} />
    </ErrorBoundary>
  );
}
