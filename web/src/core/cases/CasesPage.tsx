/** A comparison or a run: its sheet, in which cases are chosen from a table, and all of a case when it is open. */

import type { ComponentChildren } from "preact";
import { CopyButton } from "../CopyButton.tsx";
import { LatencyChart } from "../charts/LatencyChart.tsx";
import { ThroughputChart } from "../charts/ThroughputChart.tsx";
import { ErrorBoundary } from "../ErrorBoundary.tsx";
import { FlamePanel } from "../flame/FlamePanel.tsx";
import type { CaseList, Section } from "../records.ts";
import { Sheet, SheetContent, SheetTable } from "../Sheet.tsx";
import { Word } from "../Word.tsx";
import type { ListControl } from "./CaseList.tsx";
import { CaseTable } from "./CaseTable.tsx";
import type { CaseDrawings } from "./documents.ts";
import "./cases.css";

interface Properties {
  of: CaseList;
  list: ListControl;
  /** The details of an open case. */
  details: (name: string, withPictures: boolean) => ComponentChildren;
  /** What is shown below the headline. */
  children?: ComponentChildren;
}

export function CasesPage({ of, list, details, children }: Properties) {
  const chosen = list.state.group;
  return (
    <Sheet
      sheet={of.sheet}
      drawn={{
        groups: ({ tables }) =>
          tables.map((table) => (
            <SheetTable
              key={table.key}
              table={table}
              label="Groups of commands"
              named={(shown, group) => (
                <button
                  type="button"
                  class="plain link-like"
                  aria-pressed={group === chosen}
                  onClick={() => list.change({ group: group === chosen || group === "all" ? "" : group })}
                >
                  {shown}
                </button>
              )}
            />
          )),
        cases: () => (
          <>
            <CaseTable of={of} list={list} details={details} />
            {of.sheet.kind === "comparison" && <Legend />}
          </>
        ),
        repeating: (section) => (
          <>
            <pre>{of.command_line}</pre>
            <CopyButton text={of.command_line} subject="the command" />
            <SheetContent
              section={{ ...section, facts: section.facts.filter(({ label }) => label !== "command") }}
              level={3}
            />
          </>
        ),
      }}
    >
      {children}
    </Sheet>
  );
}

function Legend() {
  return (
    <p class="quiet small">
      <Word of="work" /> is what the code does, <Word of="time" /> what its users feel, <Word of="memory" />{" "}
      what its data take. The line of a change is its <Word of="interval" />, the grey band are changes
      smaller than the <Word of="minimum effect" />. <Word of="same" />, <Word of="identical" />,{" "}
      <Word of="unsure" />, <Word of="confirmed" />: click a word for its meaning.
    </p>
  );
}

interface DetailsProperties {
  section: Section;
  /** Whether there is one server only, which is not called a side. */
  alone: boolean;
  drawings: CaseDrawings | null;
  withPictures: boolean;
  /** What is known of the case elsewhere: links to its trials. */
  children?: ComponentChildren;
}

/** An open case: what happened, the figures that decide, the reasons and the pictures; the rest is folded. */
export function CaseDetails({ section, alone, drawings, withPictures, children }: DetailsProperties) {
  const {
    stacks = null,
    latency = null,
    throughput = null,
    starts_at = [],
  } = (withPictures && drawings) || {};
  return (
    <div class="detail">
      <SheetContent section={section} level={3}>
        {drawings?.missing && <p class="warning">No charts or flame graph: {drawings.missing}</p>}
        {stacks !== null && (
          // A fault in its stacks does not affect the rest of the case.
          <ErrorBoundary subject="The flame graph" data={stacks.text} file="stacks.json">
            <FlamePanel source={stacks} alone={alone} />
          </ErrorBoundary>
        )}
        {(latency !== null || throughput !== null) && (
          <div class="pictures">
            <LatencyChart {...latency} />
            <ThroughputChart sides={throughput ?? {}} startsAt={starts_at} />
          </div>
        )}
      </SheetContent>
      {children}
      <p class="quiet">{section.remark}</p>
    </div>
  );
}
