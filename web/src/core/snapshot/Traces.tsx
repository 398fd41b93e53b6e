/** What traced events consist of, with the findings: sentences and tables that the document has as they are read. */

import { Fragment } from "preact";
import { Notes, Sentence } from "../cases/facts.tsx";
import type { SnapshotTraceReading, TraceStack } from "../records.ts";
import { FigureTable } from "./FigureTable.tsx";

export function Traces({ traces }: { traces: SnapshotTraceReading[] }) {
  return traces.map((trace) => (
    <section key={trace.title}>
      <h2>What the fork consists of, {trace.title}</h2>
      <p class="quiet">{trace.headline}</p>
      {trace.findings.length > 0 && (
        <ul>
          {trace.findings.map((finding) => (
            <li key={finding}>
              <Sentence text={finding} />
            </li>
          ))}
        </ul>
      )}
      {trace.tables.map((table) => (
        <Fragment key={table.heading}>
          <h3>{table.heading.charAt(0).toUpperCase() + table.heading.slice(1)}</h3>
          <FigureTable table={table} isOfFunctions />
        </Fragment>
      ))}
      <Stacks stacks={trace.stacks} />
      <Notes notes={trace.notes} />
    </section>
  ));
}

function Stacks({ stacks }: { stacks: TraceStack[] }) {
  if (stacks.length === 0) {
    return null;
  }
  return (
    <>
      <h3>The most frequent stack of each call, innermost function first</h3>
      <ul>
        {stacks.map(({ call, share, frames }) => (
          <li key={call}>
            {share} <span class="quiet">{call}</span> <code class="small">{frames}</code>
          </li>
        ))}
      </ul>
    </>
  );
}
