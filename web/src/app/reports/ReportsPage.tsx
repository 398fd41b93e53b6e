import type { ReportList } from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { queryUrl, useAnswer } from "../answers.ts";
import { ReportTable } from "./ReportTable.tsx";

/** The newest comparisons and runs of the lab. */
export default function ReportsPage() {
  const answer = useAnswer<ReportList>(queryUrl("reports", { limit: 200 }));
  return (
    <>
      <h1>Comparisons and runs</h1>
      <Answered answer={answer}>
        {({ reports }) =>
          reports.length === 0 ? <p>Nothing was measured yet.</p> : <ReportTable reports={reports} />
        }
      </Answered>
      <p class="quiet small">
        <a href="/api/v1/pages/reports.csv?limit=200">CSV</a>
      </p>
    </>
  );
}
