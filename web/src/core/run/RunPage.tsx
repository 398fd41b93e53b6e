import type { ComponentChildren } from "preact";
import type { ListControl } from "../cases/CaseList.tsx";
import { Environment, Notes, ServerName, SkippedCases } from "../cases/facts.tsx";
import type { LabLinks } from "../cases/labLinks.ts";
import { Unreadable } from "../comparison/ComparisonPage.tsx";
import type { MeasuredCaseRow } from "../records.ts";
import { RunTable } from "./RunTable.tsx";
import { runEffort, runHeadline, type ShownRun } from "./run.ts";

interface Properties {
  report: ShownRun;
  list: ListControl;
  /** The details of an open case. */
  details: (row: MeasuredCaseRow, withPictures: boolean) => ComponentChildren;
  /** What is shown below the headline. */
  children?: ComponentChildren;
  lab?: LabLinks;
}

export function RunPage({ report, list, details, children, lab }: Properties) {
  return (
    <>
      <Headline report={report} lab={lab} />
      {children}
      <RunTable cases={report.cases} list={list} details={details} />
      <Environment noun="run" measured={report} servers={[["server", report.server]]} lab={lab} />
    </>
  );
}

function Headline({ report, lab }: { report: ShownRun; lab: LabLinks | undefined }) {
  const { config } = report.server;
  return (
    <header>
      <p class="sides">
        <ServerName server={report.server} lab={lab} />{" "}
        {Object.entries(config).map(([setting, value]) => (
          <code key={setting}>
            {setting}={value}{" "}
          </code>
        ))}
      </p>
      <h1>{runHeadline(report)}</h1>
      <p class="quiet">{runEffort(report)}</p>
      <Unreadable unreadable={report.unreadable} />
      <Notes notes={report.notes} />
      <SkippedCases skipped={report.skipped} />
    </header>
  );
}
