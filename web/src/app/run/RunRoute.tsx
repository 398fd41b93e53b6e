import { useMemo } from "preact/hooks";
import type { RunInShort } from "../../core/records.ts";
import { RunPage } from "../../core/run/RunPage.tsx";
import type { ShownRun } from "../../core/run/run.ts";
import { queryUrl } from "../answers.ts";
import { MeasuredCaseEvidence } from "../comparison/CaseEvidence.tsx";
import { Downloads, OpportunityLinks } from "../comparison/Downloads.tsx";
import { LAB_LINKS } from "../comparison/labLinks.ts";
import { ProgressPanel, RequestPage, useReport } from "../comparison/progress.tsx";
import { useAddressedList } from "../lists.ts";
import { useTitle } from "../navigation.ts";
import { besideNotice } from "../notice.ts";
import type { PageProps } from "../routes.ts";

/** A run: its metrics as they come, and the evidence of each case when it is opened. */
export default function RunRoute({ parts, parameters }: PageProps) {
  const id = parts.identity ?? "";
  const { progress, isUnknown, data, fault } = useReport<RunInShort>("run", id);
  const list = useAddressedList("case", parameters);
  const report = useMemo(() => (data === null ? null : shown(data)), [data]);
  useTitle(report === null ? null : `${report.server.name} on ${report.platform.name}`);
  if (report === null) {
    return <RequestPage id={id} noun="run" progress={progress} isUnknown={isUnknown} fault={fault} />;
  }
  return (
    <>
      <RunPage
        report={report}
        list={list}
        lab={LAB_LINKS}
        details={({ case: name }, withPictures) => (
          <MeasuredCaseEvidence id={id} name={name} withPictures={withPictures} />
        )}
      >
        {progress !== null && !progress.has_ended && <ProgressPanel progress={progress} />}
      </RunPage>
      <OpportunityLinks id={id} engines={report.settings.engines} sides={["head"]} />
      <Downloads path={`/runs/${id}`} table={queryUrl("run.csv", { id })} />
    </>
  );
}

function shown(answer: RunInShort): ShownRun {
  return {
    ...answer,
    notes: besideNotice(answer.notes),
    settings: { ...answer.settings, seed: answer.seed },
  };
}
