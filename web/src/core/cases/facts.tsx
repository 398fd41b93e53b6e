/** The parts that the pages of a comparison and of a run share, apart from the list of cases. */

import { type ComponentChildren, createContext, Fragment } from "preact";
import { useContext, useState } from "preact/hooks";
import { checkValue, withArrows } from "../numbers.ts";
import type { Check, MeasuredServer } from "../records.ts";
import { Word } from "../Word.tsx";
import { usePrinting } from "./CaseList.tsx";
import type { LabLinks } from "./labLinks.ts";

/** A part that is shown when it is opened, and on paper; one that has to be fetched only when it is opened. */
export function Fold({
  summary,
  openAtFirst = false,
  children,
}: {
  summary: string;
  openAtFirst?: boolean;
  children: ComponentChildren | (() => ComponentChildren);
}) {
  const [open, setOpen] = useState(openAtFirst);
  const printing = usePrinting();
  return (
    <details open={open || printing} onToggle={(event) => !printing && setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {typeof children === "function" ? open && children() : children}
    </details>
  );
}

export function Notes({ notes }: { notes: string[] }) {
  return notes.map((note) => (
    <p key={note} class="note">
      <Sentence text={note} />
    </p>
  ));
}

/** What names in sentences lead to: addresses of other pages. */
export const Addresses = createContext<Record<string, string>>({});

/** A sentence in which names in backticks are set as code, and arrows as such. */
export function Sentence({ text }: { text: string }) {
  const addresses = useContext(Addresses);
  // Every second part was between backticks.
  const parts = text.split("`");
  if (parts.length % 2 === 0) {
    return <>{withArrows(text)}</>;
  }
  const named = (part: string) =>
    addresses[part] === undefined ? (
      <code>{part}</code>
    ) : (
      <a href={addresses[part]}>
        <code>{part}</code>
      </a>
    );
  return (
    <>
      {parts.map((part, place) => (
        <Fragment key={place}>{place % 2 === 1 ? named(part) : withArrows(part)}</Fragment>
      ))}
    </>
  );
}

/** A name and a value in a list of figures. */
export function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

export function CheckList({ checks }: { checks: Check[] }) {
  return (
    <>
      <h3>
        <Word of="validity">Validity</Word>
      </h3>
      <ul class="checks">
        {checks.map((check, place) => (
          <li key={place} class={check.ok ? "holds" : "fails"}>
            <span aria-hidden="true">{check.ok ? "✓" : "×"}</span> {check.check} is {checkValue(check)}
            <span class="quiet">, expected {check.limit}</span>
            {!check.ok && <span class="sr"> (failed)</span>}
          </li>
        ))}
      </ul>
    </>
  );
}

const COMMIT_DIGITS = 12;
/** A shorter name that is the beginning of a commit may be so by chance. */
const FEWEST_COMMIT_DIGITS = 7;

/** A commit in short, with a link to its page where there is a lab. */
export function CommitName({ commit, lab }: { commit: string; lab: LabLinks | undefined }) {
  const short = <code title={commit}>{commit.slice(0, COMMIT_DIGITS)}</code>;
  return lab === undefined ? short : <a href={lab.commit(commit)}>{short}</a>;
}

/** A server: its name, and the version and the commit where the name is not the same. */
export function ServerName({ server, lab }: { server: MeasuredServer; lab: LabLinks | undefined }) {
  const { name, version, commit } = server;
  const isCommit = commit?.startsWith(name) === true && name.length >= FEWEST_COMMIT_DIGITS;
  return (
    <>
      {isCommit ? <CommitName commit={commit} lab={lab} /> : <code>{name}</code>}
      {version !== name && <span class="quiet"> {version}</span>}
      {commit !== null && !isCommit && (
        <>
          {" "}
          <CommitName commit={commit} lab={lab} />
        </>
      )}
    </>
  );
}
