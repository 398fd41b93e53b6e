import { OutcomeMark } from "../../core/cases/OutcomeMark.tsx";
import type { ListedReport } from "../../core/records.ts";
import { HeadSubject } from "../changes/CommitSubject.tsx";

/** Comparisons, runs, sweeps and checks in short, each with a link to its page. */
export function ReportTable({ reports }: { reports: ListedReport[] }) {
  const isPlaced = reports.some(({ platform }) => platform !== "");
  return (
    <table class="reports">
      <thead>
        <tr>
          <th scope="col">created (UTC)</th>
          <th scope="col">report</th>
          <th scope="col">servers</th>
          {isPlaced && <th scope="col">platform</th>}
          <th scope="col">outcome, in cases</th>
        </tr>
      </thead>
      <tbody>
        {reports.map(({ id, path, created, base, head, state, outcomes, platform, head_commit }) => (
          <tr key={id}>
            <td class="quiet">{created.slice(0, 16).replace("T", " ")}</td>
            <th scope="row">
              <a href={`/${path}/${id}`}>{id}</a>
            </th>
            <td>
              <code>{base === null ? head : `${base} → ${head}`}</code>
              <HeadSubject commit={head_commit} />
            </td>
            {isPlaced && <td class="quiet">{platform}</td>}
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
