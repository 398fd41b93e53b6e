import type { ListedReport, ReportList } from "../records.ts";
import { OutcomeMark } from "../report/OutcomeMark.tsx";

/** The newest comparisons and runs of a lab. */
export function ReportListPage({ list }: { list: ReportList }) {
  return (
    <>
      <h1>Comparisons and runs</h1>
      {list.reports.length === 0 ? <p>Nothing was measured yet.</p> : <ReportTable reports={list.reports} />}
    </>
  );
}

function ReportTable({ reports }: { reports: ListedReport[] }) {
  return (
    <table class="reports">
      <thead>
        <tr>
          <th scope="col">created</th>
          <th scope="col">report</th>
          <th scope="col">servers</th>
          <th scope="col">outcome</th>
        </tr>
      </thead>
      <tbody>
        {reports.map(({ id, path, created, base, head, state, outcomes }) => (
          <tr key={id}>
            <td class="quiet">{created}</td>
            <th scope="row">
              <a href={`${path}/${id}`}>{id}</a>
            </th>
            <td>
              <code>{base === null ? head : `${base} → ${head}`}</code>
            </td>
            <td class="outcomes">
              {outcomes.length === 0 && state}
              {outcomes.map(({ outcome, count }) => (
                <span key={outcome}>
                  <OutcomeMark outcome={outcome} cases={count} />
                </span>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
