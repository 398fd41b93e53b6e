import type { Build, Comparison } from "../document.ts";
import { effort, headline, stateLine } from "../reading.ts";

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
      {comparison.notes.map((note) => (
        <p key={note} class="note">
          {note}
        </p>
      ))}
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
