import type { Build, Comparison } from "../document.ts";
import { effort, headline, stateLine } from "../reading.ts";
import { Notes } from "./Notes.tsx";
import { SkippedCases } from "./SkippedCases.tsx";

export function Headline({ comparison }: { comparison: Comparison }) {
  const state = stateLine(comparison);
  return (
    <header>
      <p class="sides">
        <Side build={comparison.base} /> → <Side build={comparison.head} />
      </p>
      <h1>{headline(comparison)}</h1>
      <p class="quiet">{effort(comparison)}</p>
      {state !== null && <p class="warning">{state}</p>}
      <Notes notes={comparison.notes} />
      <SkippedCases skipped={comparison.skipped} />
    </header>
  );
}

function Side({ build }: { build: Build }) {
  return (
    <span>
      <code>{build.name}</code> <span class="quiet">{build.version}</span>
    </span>
  );
}
