import { LatencyChart } from "../charts/LatencyChart.tsx";
import { ThroughputChart } from "../charts/ThroughputChart.tsx";
import type { CasePictures } from "../pictures.ts";

/** The charts of a case, of what there is to be drawn. */
export function Charts({ pictures }: { pictures: CasePictures }) {
  const { latency, throughput, starts_at } = pictures;
  if (!latency && !throughput) {
    return null;
  }
  return (
    <div class="pictures">
      <LatencyChart {...latency} />
      <ThroughputChart sides={throughput ?? {}} startsAt={starts_at} />
    </div>
  );
}
