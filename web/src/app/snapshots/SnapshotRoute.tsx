import { useEffect } from "preact/hooks";
import { SNAPSHOT_SCHEMA } from "../../core/cases/documents.ts";
import type { DrawnSweep } from "../../core/records.ts";
import { SnapshotPage } from "../../core/snapshot/SnapshotPage.tsx";
import { Answered } from "../Answered.tsx";
import { queryUrl, useAnswer } from "../answers.ts";
import { Downloads } from "../comparison/Downloads.tsx";
import { LAB_LINKS } from "../comparison/labLinks.ts";
import { besideNotice } from "../notice.ts";
import { snapshotQuery } from "../pageQueries.ts";
import type { PageProps } from "../routes.ts";
import { EmulatedForks } from "./EmulatedForks.tsx";

/** A sweep of snapshots: its pictures, verdicts and medians, or counts. */
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
          <Drawn {...drawn} />
          <Downloads path={`/snapshots/${id}`} table={queryUrl("snapshot.csv", { id })} />
        </>
      )}
    </Answered>
  );
}

function Drawn({ report, seed, pictures }: DrawnSweep) {
  return report.schema === SNAPSHOT_SCHEMA ? (
    <SnapshotPage report={shown(report, seed)} lab={LAB_LINKS} />
  ) : (
    <EmulatedForks report={shown(report, seed)} pictures={pictures} />
  );
}

function shown<Report extends DrawnSweep["report"]>(report: Report, seed: string): Report {
  const { reading, settings } = report;
  return {
    ...report,
    settings: { ...settings, seed },
    reading: reading && { ...reading, warnings: besideNotice(reading.warnings) },
  };
}
