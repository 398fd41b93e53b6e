/** The parts that the pages of a comparison and of a run share, apart from the list of cases. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { CopyButton } from "../CopyButton.tsx";
import { checkValue, counted, percent, withArrows } from "../numbers.ts";
import type { Check, MeasuredServer, RunReport, Settings, Skipped } from "../records.ts";
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
      {note}
    </p>
  ));
}

/** The cases that were not measured, each with its reason; folded. */
export function SkippedCases({ skipped }: { skipped: Skipped[] }) {
  if (skipped.length === 0) {
    return null;
  }
  return (
    <details>
      <summary>{counted(skipped.length, "case", "cases")} skipped</summary>
      <ul>
        {skipped.map(({ case: name, reason, text }) => (
          <li key={name}>
            <code>{name}</code> <b>{reason}</b>: {text}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The message of a failure, and below it the end of the server's log. */
export function Failure({ text, failed }: { text: string; failed: boolean }) {
  const [message, ...log] = text.split("\n");
  return (
    <>
      <p class="warning">
        {failed ? "Failed: " : ""}
        {message}
      </p>
      {log.length > 0 && <pre class="small">{log.join("\n")}</pre>}
    </>
  );
}

/** A sentence in which names in backticks are set as code, and arrows as such. */
export function Sentence({ text }: { text: string }) {
  // Every second part was between backticks.
  const parts = text.split("`");
  if (parts.length % 2 === 0) {
    return <>{withArrows(text)}</>;
  }
  return (
    <>{parts.map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : withArrows(part)))}</>
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

interface EnvironmentProperties {
  noun: "comparison" | "run";
  measured: Pick<RunReport, "id" | "created" | "command_line" | "platform" | "settings">;
  servers: [string, MeasuredServer][];
  lab?: LabLinks | undefined;
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

/** The command that repeats the measurement, the servers and the platform. */
export function Environment({ noun, measured, servers, lab }: EnvironmentProperties) {
  const { platform, settings } = measured;
  return (
    <section>
      <h2>How to reproduce</h2>
      <pre>{measured.command_line}</pre>
      <CopyButton text={measured.command_line} subject="the command" />
      <dl class="facts">
        <dt>
          <Word of="seed" />
        </dt>
        <dd>{settings.seed}</dd>
        {noun === "comparison" && <Limits settings={settings} />}
        {servers.map(([name, server]) => (
          <Server key={name} name={name} server={server} lab={lab} />
        ))}
        <dt>
          <Word of="platform" />
        </dt>
        <dd>
          {platform.name}: {platform.cpu}, {counted(platform.cores, "core", "cores")}, kernel{" "}
          {platform.kernel}{" "}
          {lab === undefined ? (
            <code class="quiet">{platform.fingerprint}</code>
          ) : (
            <a href={lab.platform(platform.fingerprint)}>
              <code>{platform.fingerprint}</code>
            </a>
          )}
        </dd>
        <dt>{noun}</dt>
        <dd>
          <code>{measured.id}</code>, created {measured.created}
        </dd>
      </dl>
    </section>
  );
}

function Limits({ settings: { min_effect, q, level, regression_rule } }: { settings: Settings }) {
  const effects = Object.entries(min_effect).map(([engine, value]) => `${engine} ${percent(value)}`);
  return (
    <>
      <dt>
        <Word of="minimum effect" />
      </dt>
      <dd>{effects.join(", ")}</dd>
      <dt>
        largest <Word of="q" /> of a change
      </dt>
      <dd>{q}</dd>
      {level !== null && (
        <>
          <dt>
            level of <Word of="interval">intervals</Word>
          </dt>
          <dd>{percent(level)}</dd>
        </>
      )}
      {regression_rule !== null && (
        <>
          <dt>a regression</dt>
          <dd>{regression_rule}</dd>
        </>
      )}
    </>
  );
}

function Server({ name, server, lab }: { name: string; server: MeasuredServer; lab: LabLinks | undefined }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <ServerName server={server} lab={lab} />
        <br />
        <span class="quiet">
          {server.compiler} <code>{server.flags || "flags unknown"}</code>
          {server.stripped && ", stripped"}
          {Object.entries(server.config).map(([setting, value]) => (
            <code key={setting}>
              {" "}
              {setting}={value}
            </code>
          ))}
        </span>
        <br />
        <span class="quiet">
          build <code>{server.build}</code>
          {server.build_id !== "" && (
            <>
              , build id <code>{server.build_id}</code>
            </>
          )}
        </span>
      </dd>
    </>
  );
}
