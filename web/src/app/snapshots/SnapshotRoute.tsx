import { SNAPSHOT_SCHEMA } from "../../core/cases/documents.ts";
import type { DrawnSweep } from "../../core/records.ts";
import { EmulatedForks } from "../../core/snapshot/EmulatedForks.tsx";
import { SnapshotPage } from "../../core/snapshot/SnapshotPage.tsx";
import { Answered } from "../Answered.tsx";
import { queryUrl, useAnswer } from "../answers.ts";
import { Downloads } from "../comparison/Downloads.tsx";
import { LAB_LINKS } from "../comparison/labLinks.ts";
import { useTitle } from "../navigation.ts";
import { besideNotice } from "../notice.ts";
import { snapshotQuery } from "../pageQueries.ts";
import type { PageProps } from "../routes.ts";

/** A sweep of snapshots: its pictures, verdicts and medians, or counts. */
export default function SnapshotRoute({ parts }: PageProps) {
  const id = parts.identity ?? "";
  const answer = useAnswer<DrawnSweep>(snapshotQuery(id));
  useTitle(answer.data?.report.server.name ?? null);
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

function Drawn({ report, seed, sheet }: DrawnSweep) {
  const shown = { ...sheet, notes: besideNotice(sheet.notes) };
  return report.schema === SNAPSHOT_SCHEMA ? (
    <SnapshotPage report={withSeed(report, seed)} sheet={shown} lab={LAB_LINKS} />
  ) : (
    <EmulatedForks report={withSeed(report, seed)} sheet={shown} lab={LAB_LINKS} />
  );
}

function withSeed<Report extends DrawnSweep["report"]>(report: Report, seed: string): Report {
  return { ...report, settings: { ...report.settings, seed } };
}
