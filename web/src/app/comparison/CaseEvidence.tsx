/** What is fetched of a case when it is opened: its evidence, its pictures, its trials. */

import { useMemo } from "preact/hooks";
import { CaseDetails } from "../../core/cases/CasesPage.tsx";
import { type CaseDrawings, withFrames, withStackSource } from "../../core/cases/documents.ts";
import { Fold } from "../../core/cases/facts.tsx";
import { counted } from "../../core/numbers.ts";
import type { ChosenCase, DrawnCase } from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { queryUrl, useAnswer } from "../answers.ts";
import { caseQuery, picturesQuery } from "../pageQueries.ts";
import { stacksUrl } from "../stacks/selection.ts";
import { TrialTable } from "../trial/TrialTable.tsx";
import { Workload } from "./Workload.tsx";

interface Properties {
  kind: "comparison" | "run";
  id: string;
  name: string;
  withPictures: boolean;
}

export function CaseEvidence({ kind, id, name, withPictures }: Properties) {
  const answer = useAnswer<ChosenCase>(caseQuery(kind, id, name));
  const drawn = useDrawings(withPictures ? { id, name } : null);
  return (
    <Answered answer={answer}>
      {({ section, metric, trials, workload }) => (
        <CaseDetails
          section={section}
          alone={kind === "run"}
          drawings={drawn.drawings}
          withPictures={withPictures}
        >
          {drawn.fault !== null && <p class="warning">No charts or flame graph: {drawn.fault.message}</p>}
          <PictureTables id={id} name={name} drawings={drawn.drawings} isSampled={drawn.isSampled} />
          {workload !== null && <Workload workload={workload} />}
          <Trials id={id} name={name} trials={trials} />
          <CaseLinks
            id={id}
            name={name}
            metric={metric}
            isSampled={drawn.isSampled}
            isTraced={drawn.isTraced}
          />
        </CaseDetails>
      )}
    </Answered>
  );
}

/** What the charts of a case show, as tables. */
function PictureTables({
  id,
  name,
  drawings,
  isSampled,
}: {
  id: string;
  name: string;
  drawings: CaseDrawings | null;
  isSampled: boolean;
}) {
  const hasCharts = drawings != null && (drawings.latency !== null || drawings.throughput !== null);
  if (!hasCharts && !isSampled) {
    return null;
  }
  return (
    <p class="quiet small downloads">
      As CSV:{" "}
      {hasCharts && (
        <a href={picturesQuery(id, name, "case-pictures.csv")} download>
          charts
        </a>
      )}
      {hasCharts && isSampled && " · "}
      {isSampled && (
        <a href={queryUrl("stacks.csv", { id, case: name })} download>
          stacks
        </a>
      )}
    </p>
  );
}

/** Where else the lab has something on a case: over time, and its stacks. */
function CaseLinks({
  id,
  name,
  metric,
  isSampled,
  isTraced,
}: {
  id: string;
  name: string;
  metric: string | null;
  isSampled: boolean;
  isTraced: boolean;
}) {
  const series = new URLSearchParams({ case: name, ...(metric === null ? {} : { metric }) });
  return (
    <p class="downloads">
      <a href={`/series?${series}`}>This case over time</a>
      {isSampled && (
        <>
          {" "}
          · <a href={stacksUrl({ id, case: name })}>Its sampled stacks</a>
        </>
      )}
      {isTraced && (
        <>
          {" "}
          · <a href={stacksUrl({ id, case: name, time: "waits" })}>Its stacks of waits</a>
        </>
      )}
    </p>
  );
}

function useDrawings(wanted: { id: string; name: string } | null) {
  const url = wanted === null ? null : picturesQuery(wanted.id, wanted.name);
  const { data, fault } = useAnswer<DrawnCase>(url);
  const drawings = useMemo(() => drawingsOf(data), [data]);
  const { stacks, waits } = data?.pictures ?? { stacks: null, waits: null };
  return { drawings, fault, isSampled: stacks !== null, isTraced: waits !== null };
}

function drawingsOf(drawn: DrawnCase | null): CaseDrawings | null {
  if (drawn?.pictures == null) {
    return null;
  }
  const { stacks, waits, lines } = drawn.pictures;
  if (stacks === null && waits === null) {
    return withStackSource(drawn.pictures, null);
  }
  const { frames, sources } = drawn;
  return withStackSource(drawn.pictures, {
    read: () => ({ cpu: withFrames(stacks, frames), waits: withFrames(waits, frames), lines, sources }),
    text: () => JSON.stringify({ stacks, waits }),
  });
}

function Trials({ id, name, trials }: { id: string; name: string; trials: Record<string, number> }) {
  const all = Object.values(trials).reduce((sum, number) => sum + number, 0);
  if (all === 0) {
    return null;
  }
  return (
    <Fold summary={`${counted(all, "trial", "trials")} of this case`}>
      {() => <TrialTable id={id} name={name} sides={Object.keys(trials).sort()} />}
    </Fold>
  );
}
