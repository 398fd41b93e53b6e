import { render } from "preact";
import { ComparisonPage } from "./comparison/ComparisonPage.tsx";
import {
  type Drawings,
  documentIn,
  documentText,
  embeddedDrawings,
  REPORT_LIST_SCHEMA,
  REQUEST_STATUS_SCHEMA,
  RUN_SCHEMA,
  UnreadableData,
} from "./embedded.ts";
import { ReportListPage } from "./live/ReportListPage.tsx";
import { RequestStatusPage } from "./live/RequestStatusPage.tsx";
import type { Comparison, RunReport } from "./records.ts";
import { ErrorBoundary } from "./report/ErrorBoundary.tsx";
import { RunPage } from "./run/RunPage.tsx";
import "./style.css";

function Page() {
  const shown = documentIn(documentText());
  switch (shown.schema) {
    case REPORT_LIST_SCHEMA:
      document.title = "Comparisons and runs · Zerolap";
      return <ReportListPage list={shown} />;
    case REQUEST_STATUS_SCHEMA:
      document.title = `${shown.id} · Zerolap`;
      return <RequestStatusPage request={shown} />;
    default:
      return <Report measured={shown} />;
  }
}

function Report({ measured }: { measured: Comparison | RunReport }) {
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
      <Page />
    </ErrorBoundary>,
    place,
  );
}
