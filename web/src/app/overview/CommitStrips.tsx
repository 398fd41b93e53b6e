/** The newest commits of each history as a row of cells: what the worst change at each of them is. */

import { change, counted, metricHeading } from "../../core/numbers.ts";
import type { CommitStrip, StripCommit } from "../../core/records.ts";
import { byAuthor } from "../changes/CommitSubject.tsx";
import { commitUrl } from "../changes/links.ts";
import { historyName } from "../series/SeriesPicker.tsx";
import "./strips.css";

const SIGNS: Record<StripCommit["state"], string> = {
  worse: "▲",
  better: "▼",
  unchanged: "·",
  identical: "",
  "not measured": "",
  failed: "✕",
};

const MEANINGS: readonly (readonly [StripCommit["state"], string])[] = [
  ["worse", "worse"],
  ["better", "better"],
  ["unchanged", "no significant change"],
  ["identical", "the program or what it executes is the same"],
  ["not measured", "not measured"],
  ["failed", "does not build, or fails"],
];

export function CommitStrips({ strips }: { strips: readonly CommitStrip[] }) {
  return (
    <section>
      <h2>Commits</h2>
      {strips.map((strip) => (
        <Strip key={strip.history.number} strip={strip} />
      ))}
      <p class="strip-legend small quiet">
        {MEANINGS.map(([state, words]) => (
          <span key={state}>
            <span class={`strip-cell ${className(state)}`} aria-hidden="true">
              {SIGNS[state]}
            </span>{" "}
            {words}
          </span>
        ))}
        <span>An upright line begins a release. The stronger the colour, the larger the change.</span>
      </p>
    </section>
  );
}

function Strip({ strip: { history, commits, earlier } }: { strip: CommitStrip }) {
  return (
    <div class="strip">
      <h3>
        <a href={`/versions?history=${history.number}`}>{historyName(history)}</a>{" "}
        <span class="quiet small">{history.repository}</span>
      </h3>
      <ol aria-label={`The newest ${commits.length} commits, the oldest first`}>
        {commits.map((commit) => (
          <li key={commit.commit} class={commit.is_release ? "release" : undefined}>
            <a
              class={`strip-cell ${className(commit.state)} ${strength(commit.change)}`}
              href={commitUrl(commit.commit)}
              title={meaning(commit)}
              aria-label={meaning(commit)}
            >
              {SIGNS[commit.state]}
            </a>
          </li>
        ))}
      </ol>
      {earlier > 0 && (
        <p class="quiet small">
          The newest {commits.length} commits; {counted(earlier, "earlier one is", "earlier ones are")} not
          shown here, but in <a href={`/versions?history=${history.number}`}>versions</a>.
        </p>
      )}
    </div>
  );
}

function className(state: StripCommit["state"]): string {
  return `is-${state.replace(" ", "-")}`;
}

/** How strong the colour is: a step in three sizes, told by the words of the cell too. */
function strength(step: number | null): string {
  const size = Math.abs(step ?? 0);
  return size >= 0.05 ? "is-large" : size >= 0.02 ? "is-medium" : "";
}

function meaning(commit: StripCommit): string {
  const what =
    commit.change === null
      ? MEANINGS.find(([state]) => state === commit.state)?.[1]
      : `${commit.state}: ${change(commit.change)} ${metricHeading(commit.metric)} in ${commit.case}${
          commit.steps > 1 ? `, the worst of ${commit.steps} steps` : ""
        }`;
  return `${commit.name}, ${commit.time.slice(0, 10)}, ${byAuthor(commit)}: ${what}`;
}
