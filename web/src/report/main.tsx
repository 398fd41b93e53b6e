import { render } from "preact";
import { useMemo } from "preact/hooks";
import { useLocalList } from "../core/cases/CaseList.tsx";
import { CaseDetails, CasesPage } from "../core/cases/CasesPage.tsx";
import {
  CHECK_SCHEMA,
  COVERAGE_SCHEMA,
  type Drawings,
  documentIn,
  EMULATED_SCHEMA,
  type MeasuredDocument,
  SNAPSHOT_SCHEMA,
  UnreadableData,
} from "../core/cases/documents.ts";
import { ErrorBoundary } from "../core/ErrorBoundary.tsx";
import type { CaseList } from "../core/records.ts";
import { Sheet } from "../core/Sheet.tsx";
import { EmulatedForks } from "../core/snapshot/EmulatedForks.tsx";
import { SnapshotPage } from "../core/snapshot/SnapshotPage.tsx";
import { documentText, embeddedDetails, embeddedDrawings, embeddedSheet } from "./embedded.ts";
import "../core/style.css";

function Report() {
  const measured = useMemo(() => documentIn(documentText()), []);
  const { drawings, fault } = useMemo(readDrawings, []);
  return (
    <>
      {fault !== null && <p class="warning">{fault} The report is shown without charts and flame graphs.</p>}
      <Shown measured={measured} drawings={drawings} />
    </>
  );
}

function Shown({ measured, drawings }: { measured: MeasuredDocument; drawings: Drawings }) {
  switch (measured.schema) {
    case SNAPSHOT_SCHEMA:
      setTitle(measured.server.name);
      return <SnapshotPage report={measured} sheet={embeddedSheet()} />;
    case EMULATED_SCHEMA:
      setTitle(measured.server.name);
      return <EmulatedForks report={measured} sheet={embeddedSheet()} />;
    case CHECK_SCHEMA:
    case COVERAGE_SCHEMA:
      return <Sheet sheet={embeddedSheet()} />;
    default:
      return <OfCases drawings={drawings} />;
  }
}

function OfCases({ drawings }: { drawings: Drawings }) {
  const of = useMemo(() => embeddedSheet<CaseList>(), []);
  const isRun = of.sheet.kind === "run";
  setTitle(of.subject);
  return (
    <CasesPage
      of={of}
      list={useLocalList(isRun ? "case" : "verdict")}
      details={(name, withPictures) => (
        <CaseDetails
          section={embeddedDetails(name)}
          alone={isRun}
          drawings={drawings.get(name) ?? null}
          withPictures={withPictures}
        />
      )}
    />
  );
}

function setTitle(subject: string): void {
  document.title = `${subject} · Zerolap`;
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
