import { render } from "preact";
import { type Drawings, documentIn, RUN_SCHEMA, UnreadableData } from "../core/cases/documents.ts";
import { ComparisonPage } from "../core/comparison/ComparisonPage.tsx";
import { ErrorBoundary } from "../core/ErrorBoundary.tsx";
import { RunPage } from "../core/run/RunPage.tsx";
import { documentText, embeddedDrawings } from "./embedded.ts";
import "../core/style.css";

function Report() {
  const measured = documentIn(documentText());
  const { drawings, fault } = readDrawings();
  const isRun = measured.schema === RUN_SCHEMA;
  document.title = `${isRun ? measured.server.name : `${measured.base.name} → ${measured.head.name}`} · Zerolap`;
  return (
    <>
      {fault !== null && <p class="warning">{fault} The report is shown without charts and flame graphs.</p>}
      {isRun ? (
        <RunPage report={measured} drawings={drawings} />
      ) : (
        <ComparisonPage comparison={measured} drawings={drawings} />
      )}
    </>
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
