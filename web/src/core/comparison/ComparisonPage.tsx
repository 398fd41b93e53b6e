import type { ComponentChildren } from "preact";
import type { ListControl } from "../cases/CaseList.tsx";
import { Environment, Notes, SkippedCases } from "../cases/facts.tsx";
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
}

export function ComparisonPage({ comparison, list, details, children }: Properties) {
  return (
    <>
      <Headline comparison={comparison} />
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
      />
    </>
  );
}

function Headline({ comparison }: { comparison: ShownComparison }) {
  const { reading, unreadable } = comparison;
  return (
    <header>
      <p class="sides">
        <Side server={comparison.base} /> → <Side server={comparison.head} />
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

function Side({ server }: { server: Comparison["base"] }) {
  return (
    <span>
      <code>{server.name}</code> <span class="quiet">{server.version}</span>
    </span>
  );
}
