import type { RunReport } from "../run-document.ts";
import { runEffort, runHeadline } from "../run-reading.ts";
import { Notes } from "./Notes.tsx";
import { SkippedCases } from "./SkippedCases.tsx";

const COMMIT_DIGITS = 12;

export function RunHeadline({ report }: { report: RunReport }) {
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
