import type { ComponentChildren } from "preact";
import type { ListControl } from "../cases/CaseList.tsx";
import { Environment, Notes, ServerName, SkippedCases } from "../cases/facts.tsx";
import type { LabLinks } from "../cases/labLinks.ts";
import type { ComparedCaseRow, Comparison } from "../records.ts";
import { CaseTable } from "./CaseTable.tsx";
import type { ShownComparison } from "./comparison.ts";
import { GroupSummary } from "./GroupSummary.tsx";
import "./comparison.css";

interface Properties {
  comparison: ShownComparison;
  list: ListControl;
  /** The details of an open case. */
  details: (row: ComparedCaseRow, withPictures: boolean) => ComponentChildren;
  /** What is shown below the headline. */
  children?: ComponentChildren;
  lab?: LabLinks;
}

export function ComparisonPage({ comparison, list, details, children, lab }: Properties) {
  return (
    <>
      <Headline comparison={comparison} lab={lab} />
      {children}
      <GroupSummary comparison={comparison} list={list} />
      <CaseTable comparison={comparison} list={list} details={details} />
      <Environment
        noun="comparison"
        measured={comparison}
        servers={[
          ["base", comparison.base],
          ["head", comparison.head],
        ]}
        lab={lab}
      />
    </>
  );
}

function Headline({ comparison, lab }: { comparison: ShownComparison; lab: LabLinks | undefined }) {
  const { reading, unreadable } = comparison;
  return (
    <header>
      <p class="sides">
        <Side server={comparison.base} lab={lab} /> → <Side server={comparison.head} lab={lab} />
      </p>
      <h1>{reading?.headline}</h1>
      {reading?.answers.map((line) => (
        <p key={line}>{line}</p>
      ))}
      <p class="quiet">{reading?.effort}</p>
      {reading?.state && <p class="warning">{reading.state}</p>}
      <Unreadable unreadable={unreadable} />
      <Notes notes={comparison.notes} />
      <SkippedCases skipped={comparison.skipped} />
    </header>
  );
}

/** The cases that cannot be read; the others are shown. */
export function Unreadable({ unreadable }: { unreadable: Record<string, string> }) {
  return (
    <>
      {Object.entries(unreadable).map(([name, reason]) => (
        <p key={name} class="warning">
          The case {name} is not shown: {reason}
        </p>
      ))}
    </>
  );
}

function Side({ server, lab }: { server: Comparison["base"]; lab: LabLinks | undefined }) {
  return (
    <span>
      <ServerName server={server} lab={lab} />
    </span>
  );
}
