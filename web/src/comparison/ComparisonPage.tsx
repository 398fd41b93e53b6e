import type { Drawings } from "../embedded.ts";
import type { Comparison } from "../records.ts";
import { Environment, Notes, SkippedCases } from "../report/facts.tsx";
import { CaseTable } from "./CaseTable.tsx";
import { answerLines, effort, headline, stateLine } from "./comparison.ts";

export function ComparisonPage({ comparison, drawings }: { comparison: Comparison; drawings: Drawings }) {
  return (
    <>
      <Headline comparison={comparison} />
      <CaseTable cases={comparison.cases} drawings={drawings} />
      <Environment measured={comparison} />
    </>
  );
}

function Headline({ comparison }: { comparison: Comparison }) {
  const state = stateLine(comparison);
  return (
    <header>
      <p class="sides">
        <Side server={comparison.base} /> → <Side server={comparison.head} />
      </p>
      <h1>{headline(comparison)}</h1>
      {answerLines(comparison).map((line) => (
        <p key={line}>{line}</p>
      ))}
      <p class="quiet">{effort(comparison)}</p>
      {state !== null && <p class="warning">{state}</p>}
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
