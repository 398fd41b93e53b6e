import type { Drawings } from "../cases/documents.ts";
import { Environment, Notes, SkippedCases } from "../cases/facts.tsx";
import type { Comparison } from "../records.ts";
import { CaseTable } from "./CaseTable.tsx";

export function ComparisonPage({ comparison, drawings }: { comparison: Comparison; drawings: Drawings }) {
  return (
    <>
      <Headline comparison={comparison} />
      <CaseTable comparison={comparison} drawings={drawings} />
      <Environment measured={comparison} />
    </>
  );
}

function Headline({ comparison }: { comparison: Comparison }) {
  const { reading } = comparison;
  return (
    <header>
      <p class="sides">
        <Side server={comparison.base} /> → <Side server={comparison.head} />
      </p>
      <h1>{reading?.headline}</h1>
      {reading?.answers.map((line) => (
        <p key={line}>{line}</p>
      ))}
      <p class="quiet">{reading?.effort}</p>
      {reading?.state && <p class="warning">{reading.state}</p>}
      <Notes notes={comparison.notes} />
      <SkippedCases skipped={comparison.skipped} />
    </header>
  );
}

function Side({ server }: { server: Comparison["base"] }) {
  return (
    <span>
      <code>{server.name}</code> <span class="quiet">{server.version}</span>
    </span>
  );
}
