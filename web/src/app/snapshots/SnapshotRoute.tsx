import { useEffect } from "preact/hooks";
import type { DrawnSweep, SnapshotReport } from "../../core/records.ts";
import { SnapshotPage } from "../../core/snapshot/SnapshotPage.tsx";
import { Answered } from "../Answered.tsx";
import { queryUrl, useAnswer } from "../answers.ts";
import { Downloads } from "../comparison/Downloads.tsx";
import { LAB_LINKS } from "../comparison/labLinks.ts";
import { besideNotice } from "../notice.ts";
import { snapshotQuery } from "../pageQueries.ts";
import type { PageProps } from "../routes.ts";

/** A sweep of snapshots: its pictures, verdicts and medians. */
export default function SnapshotRoute({ parts }: PageProps) {
  const id = parts.identity ?? "";
  const answer = useAnswer<DrawnSweep>(snapshotQuery(id));
  const { data } = answer;
  useEffect(() => {
    if (data !== null) {
      document.title = `${data.report.server.name} · Zerolap`;
    }
  }, [data]);
  return (
    <Answered answer={answer}>
      {(drawn) => (
        <>
          <SnapshotPage report={shown(drawn)} lab={LAB_LINKS} />
          <Downloads path={`/snapshots/${id}`} table={queryUrl("snapshot.csv", { id })} />
        </>
      )}
    </Answered>
  );
}

function shown({ report, seed }: DrawnSweep): SnapshotReport {
  const { reading, settings } = report;
  return {
    ...report,
    settings: { ...settings, seed },
    reading: reading && { ...reading, warnings: besideNotice(reading.warnings) },
  };
}
