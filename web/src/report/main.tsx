import { render } from "preact";
import { useMemo } from "preact/hooks";
import { useLocalList } from "../core/cases/CaseList.tsx";
import {
  CHECK_SCHEMA,
  type Drawings,
  documentIn,
  EMULATED_SCHEMA,
  type MeasuredDocument,
  RUN_SCHEMA,
  SNAPSHOT_SCHEMA,
  UnreadableData,
} from "../core/cases/documents.ts";
import { CaseDetails } from "../core/comparison/CaseDetails.tsx";
import { ComparisonPage } from "../core/comparison/ComparisonPage.tsx";
import { ErrorBoundary } from "../core/ErrorBoundary.tsx";
import type { CaseResult, Comparison, RunCase, RunReport, Section } from "../core/records.ts";
import { RunDetails } from "../core/run/RunDetails.tsx";
import { RunPage } from "../core/run/RunPage.tsx";
import { Sheet } from "../core/Sheet.tsx";
import { EmulatedForks } from "../core/snapshot/EmulatedForks.tsx";
import { SnapshotPage } from "../core/snapshot/SnapshotPage.tsx";
import { documentText, embeddedDrawings, embeddedSections, embeddedSheet } from "./embedded.ts";
import "../core/style.css";

function Report() {
  const measured = useMemo(() => documentIn(documentText()), []);
  const { drawings, fault } = useMemo(readDrawings, []);
  document.title = `${subjectOf(measured)} · Zerolap`;
  return (
    <>
      {fault !== null && <p class="warning">{fault} The report is shown without charts and flame graphs.</p>}
      <Shown measured={measured} drawings={drawings} />
    </>
  );
}

/** What a document is about, for the title of the page. */
function subjectOf(measured: MeasuredDocument): string {
  return "server" in measured ? measured.server.name : `${measured.base.name} → ${measured.head.name}`;
}

function Shown({ measured, drawings }: { measured: MeasuredDocument; drawings: Drawings }) {
  switch (measured.schema) {
    case RUN_SCHEMA:
      return <OfRun report={measured} drawings={drawings} />;
    case SNAPSHOT_SCHEMA:
      return <SnapshotPage report={measured} sheet={embeddedSheet()} />;
    case EMULATED_SCHEMA:
      return <EmulatedForks report={measured} sheet={embeddedSheet()} />;
    case CHECK_SCHEMA:
      return <Sheet sheet={embeddedSheet()} />;
    default:
      return <OfComparison comparison={measured} drawings={drawings} />;
  }
}

function OfComparison({ comparison, drawings }: { comparison: Comparison; drawings: Drawings }) {
  const { reading } = comparison;
  return (
    <ComparisonPage
      comparison={{ ...comparison, weights: {}, unreadable: {} }}
      list={useLocalList("verdict")}
      details={(row, withPictures) => (
        <CaseDetails
          // The rows of this page are the cases themselves.
          result={row as CaseResult}
          sentences={reading?.sentences[row.case] ?? reading?.statements[row.case] ?? []}
          traced={tracedOf(row.case)}
          drawings={drawings.get(row.case) ?? null}
          withPictures={withPictures}
        />
      )}
    />
  );
}

/** What was traced of a case. */
function tracedOf(name: string): Section | null {
  return embeddedSections().find(({ key }) => key === name) ?? null;
}

function OfRun({ report, drawings }: { report: RunReport; drawings: Drawings }) {
  return (
    <RunPage
      report={{ ...report, unreadable: {} }}
      list={useLocalList("case")}
      details={(row, withPictures) => (
        <RunDetails
          entry={row as RunCase}
          traced={tracedOf(row.case)}
          drawings={drawings.get(row.case) ?? null}
          withPictures={withPictures}
        />
      )}
    />
  );
}

function readDrawings(): { drawings: Drawings; fault: string | null } {
  try {
    return { drawings: embeddedDrawings(), fault: null };
  } catch (fault) {
    if (fault instanceof UnreadableData) {
      return { drawings: new Map(), fault: fault.message };
    }
    throw fault;
  }
}

const HINT = "A report is written again from its stored results by: zerolap explain ID --html FILE";
const place = document.getElementById("page");
if (place !== null) {
  place.replaceChildren();
  render(
    <ErrorBoundary subject="This report" data={documentText} file="zerolap-report.json" hint={HINT}>
      <Report />
    </ErrorBoundary>,
    place,
  );
}
