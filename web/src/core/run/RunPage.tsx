import type { ComponentChildren } from "preact";
import type { ListControl } from "../cases/CaseList.tsx";
import { Environment, Notes, SkippedCases } from "../cases/facts.tsx";
import { Unreadable } from "../comparison/ComparisonPage.tsx";
import type { MeasuredCaseRow } from "../records.ts";
import { RunTable } from "./RunTable.tsx";
import { runEffort, runHeadline, type ShownRun } from "./run.ts";

const COMMIT_DIGITS = 12;

interface Properties {
  report: ShownRun;
  list: ListControl;
  /** The details of an open case. */
  details: (row: MeasuredCaseRow, withPictures: boolean) => ComponentChildren;
  /** What is shown below the headline. */
  children?: ComponentChildren;
}

export function RunPage({ report, list, details, children }: Properties) {
  return (
    <>
      <Headline report={report} />
      {children}
      <RunTable cases={report.cases} list={list} details={details} />
      <Environment noun="run" measured={report} servers={[["server", report.server]]} />
    </>
  );
}

function Headline({ report }: { report: ShownRun }) {
  const { name, version, commit, config } = report.server;
  return (
    <header>
      <p class="sides">
        <code>{name}</code> <span class="quiet">{version}</span>{" "}
        {commit !== null && <code class="quiet">{commit.slice(0, COMMIT_DIGITS)}</code>}{" "}
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
