import type { Drawings } from "../cases/documents.ts";
import { Environment, Notes, SkippedCases } from "../cases/facts.tsx";
import type { RunReport } from "../records.ts";
import { RunTable } from "./RunTable.tsx";
import { runEffort, runHeadline } from "./run.ts";

const COMMIT_DIGITS = 12;

export function RunPage({ report, drawings }: { report: RunReport; drawings: Drawings }) {
  return (
    <>
      <Headline report={report} />
      <RunTable cases={report.cases} drawings={drawings} />
      <Environment measured={report} />
    </>
  );
}

function Headline({ report }: { report: RunReport }) {
  const { name, version, commit, config } = report.server;
  return (
    <header>
      <p class="sides">
        <code>{name}</code> <span class="quiet">{version}</span>{" "}
        {commit !== null && <code class="quiet">{commit.slice(0, COMMIT_DIGITS)}</code>}{" "}
        {Object.entries(config).map(([setting, value]) => (
          <code key={setting}>
            {setting}={value}{" "}
          </code>
        ))}
      </p>
      <h1>{runHeadline(report)}</h1>
      <p class="quiet">{runEffort(report)}</p>
      <Notes notes={report.notes} />
      <SkippedCases skipped={report.skipped} />
    </header>
  );
}
