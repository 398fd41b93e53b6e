/** Changes of series: where, how large, since when and why. */

import { CopyButton } from "../../core/CopyButton.tsx";
import { Sentence } from "../../core/cases/facts.tsx";
import { change, counted, interval, metricHeading } from "../../core/numbers.ts";
import type { ListedChange, ListedCommit } from "../../core/records.ts";
import { byAuthor } from "./CommitSubject.tsx";
import { acceptCommand, commitUrl, seriesUrl } from "./links.ts";
import "./changes.css";

/** Whether a change is for the worse, as a mark that is read without its colour. */
export function ChangeMark({
  of,
}: {
  of: Pick<ListedChange, "change" | "is_worse" | "is_opposed" | "better">;
}) {
  const direction = of.change > 0 ? "▲" : "▼";
  if (of.better === null || of.is_opposed) {
    return <span class="mark same">{direction} changed</span>;
  }
  return of.is_worse ? (
    <span class="mark worse">{direction} worse</span>
  ) : (
    <span class="mark better">{direction} better</span>
  );
}

interface Properties {
  changes: readonly ListedChange[];
  caption: string;
  /** Leaves the column of commits out, where all are of one. */
  ofOneCommit?: boolean;
  /** Shows the command that accepts each open change. */
  acceptable?: boolean;
}

export function ChangeTable({ changes, caption, ofOneCommit = false, acceptable = false }: Properties) {
  return (
    <table class="reports changes">
      <caption class="sr">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">case</th>
          <th scope="col">change</th>
          {!ofOneCommit && <th scope="col">where</th>}
          <th scope="col">reason</th>
        </tr>
      </thead>
      <tbody>
        {ofSameCause(changes).map((same) => {
          const [of] = same;
          return (
            <tr key={`${of.history} ${of.id} ${of.kind} ${of.source}`}>
              <th scope="row">
                <a href={seriesLink(of)}>{of.case}</a>
              </th>
              <td>
                {same.map((each) => (
                  <ChangeOfSeries
                    key={`${each.history} ${each.metric} ${each.topology} ${each.source}`}
                    of={each}
                  />
                ))}
              </td>
              {!ofOneCommit && (
                <td>
                  <CommitLink of={of} />
                </td>
              )}
              <td class="small">
                <Reasons of={same.find(({ reasons }) => reasons.length > 0) ?? of} />
                {acceptable && same.some(({ is_open }) => is_open) && <Acceptance of={of} />}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** Changes of one case at one commit together, in the order of the first of each. */
function ofSameCause(changes: readonly ListedChange[]): [ListedChange, ...ListedChange[]][] {
  const groups = new Map<string, [ListedChange, ...ListedChange[]]>();
  for (const of of changes) {
    const key = JSON.stringify([of.case, of.kind, of.commit?.commit, of.is_worse, of.is_opposed, of.source]);
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, [of]);
    } else {
      group.push(of);
    }
  }
  return [...groups.values()];
}

function ChangeOfSeries({ of }: { of: ListedChange }) {
  return (
    <div class="of-series">
      <ChangeMark of={of} /> <b class="number">{change(of.change)}</b>{" "}
      <span class="number quiet small" title="interval of 95 %">
        {interval(of.low, of.high)} %
      </span>{" "}
      <a class="small" href={seriesLink(of)}>
        {metricHeading(of.metric)}, {of.platform_name}
        {of.variant !== "default" && `, ${of.variant}`}
        {of.topology !== "standalone" && `, ${of.topology}`}
      </a>{" "}
      <span class="small">
        <Standing of={of} />
      </span>
    </div>
  );
}

/** The series of a change around it. */
export function seriesLink(of: ListedChange): string {
  return seriesUrl({ case: of.case, metric: of.metric, history: of.history });
}

function CommitLink({ of: { after, commit, kind, commit_count: commits } }: { of: ListedChange }) {
  if (commit === null) {
    return null;
  }
  return kind === "drift" && after !== null ? (
    <>
      {counted(commits, "commit", "commits")}, none of which is the reason by itself, from{" "}
      <NamedCommit commit={after} /> to <NamedCommit commit={commit} />
    </>
  ) : (
    <>
      <NamedCommit commit={commit} />
      <div class="small subject">{byAuthor(commit)}</div>
    </>
  );
}

export function NamedCommit({ commit }: { commit: ListedCommit }) {
  return (
    <>
      <a href={commitUrl(commit.commit)} title={byAuthor(commit)}>
        <code>{commit.name}</code>
      </a>{" "}
      <span class="quiet small number">{commit.time.slice(0, 10)}</span>
    </>
  );
}

function Acceptance({ of }: { of: ListedChange }) {
  const command = acceptCommand(of);
  return command === null ? null : (
    <details>
      <summary>accept it</summary>
      <code>{command}</code> <CopyButton text={command} subject={`the command that accepts ${of.case}`} />
    </details>
  );
}

function Standing({ of }: { of: ListedChange }) {
  const words = [];
  if (of.kind === "drift") {
    words.push(
      <abbr
        key="drift"
        title="Many small changes of the same direction, each too small to be reported by itself."
      >
        drift
      </abbr>,
    );
  }
  if (!of.confirmed) {
    words.push(
      <abbr
        key="candidate"
        title="Seen in the levels of time; no fresh comparison of both commits has shown it yet."
      >
        not confirmed
      </abbr>,
    );
  }
  if (of.accepted !== null) {
    words.push(<span key="accepted">accepted: {of.accepted}</span>);
  } else if (of.is_open) {
    words.push(
      <abbr key="open" title="For the worse, neither accepted by its team nor made good by a later commit.">
        open
      </abbr>,
    );
  }
  return (
    <>
      {words.map((word, index) => (
        <>
          {index > 0 && ", "}
          {word}
        </>
      ))}
    </>
  );
}

function Reasons({ of: { reasons, comparison } }: { of: ListedChange }) {
  const [first, ...others] = reasons;
  return (
    <>
      {first !== undefined && <Sentence text={first} />}
      {others.length > 0 && (
        <details>
          <summary>{counted(others.length, "more reason", "more reasons")}</summary>
          {others.map((reason) => (
            <p key={reason}>
              <Sentence text={reason} />
            </p>
          ))}
        </details>
      )}
      {comparison !== null && (
        <div>
          confirmed by <a href={`/comparisons/${comparison}`}>{comparison}</a>
        </div>
      )}
    </>
  );
}
