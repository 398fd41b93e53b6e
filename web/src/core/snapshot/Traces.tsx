/** What traced events consist of, with the findings: sentences and tables that the document has as they are read. */

import { Notes, Sentence } from "../cases/facts.tsx";
import type { SnapshotTraceReading, TraceStack, TraceTable } from "../records.ts";
import { WideTable } from "./WideTable.tsx";

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
        <Table key={table.heading} table={table} />
      ))}
      <Stacks stacks={trace.stacks} />
      <Notes notes={trace.notes} />
    </section>
  ));
}

function Table({ table: { heading, columns, rows, names } }: { table: TraceTable }) {
  return (
    <>
      <h3>{heading.charAt(0).toUpperCase() + heading.slice(1)}</h3>
      <WideTable label={heading}>
        <table class="functions">
          <thead>
            <tr>
              {columns.map((column, place) => (
                <th key={column} scope="col" class={place < names ? "" : "number"}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((cells) => (
              <tr key={cells.slice(0, names).join(" ")}>
                {cells.map((cell, place) =>
                  place < names ? (
                    <th key={columns[place]} scope="row">
                      {cell}
                    </th>
                  ) : (
                    <td key={columns[place]} class="number">
                      {cell}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </WideTable>
    </>
  );
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
