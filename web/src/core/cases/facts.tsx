/** The parts that the pages of a comparison and of a run share, apart from the list of cases. */

import { checkValue, counted, percent } from "../numbers.ts";
import type { Check, Comparison, RunReport, Settings, Skipped } from "../records.ts";
import { COMPARISON_SCHEMA } from "./documents.ts";

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

/** A sentence in which names in backticks are set as code. */
export function Sentence({ text }: { text: string }) {
  // Every second part was between backticks.
  const parts = text.split("`");
  if (parts.length % 2 === 0) {
    return <>{text}</>;
  }
  return <>{parts.map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : part))}</>;
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
      <h3>Validity</h3>
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

/** The command that repeats the measurement, the servers and the platform. */
export function Environment({ measured }: { measured: Comparison | RunReport }) {
  const { platform, settings } = measured;
  const isComparison = measured.schema === COMPARISON_SCHEMA;
  return (
    <section>
      <h2>How to reproduce</h2>
      <pre>{measured.command_line}</pre>
      <dl class="facts">
        <dt>seed</dt>
        <dd>{settings.seed}</dd>
        {isComparison ? (
          <>
            <Limits settings={settings} />
            <Server name="base" server={measured.base} />
            <Server name="head" server={measured.head} />
          </>
        ) : (
          <Server name="server" server={measured.server} />
        )}
        <dt>platform</dt>
        <dd>
          {platform.name}: {platform.cpu}, {counted(platform.cores, "core", "cores")}, kernel{" "}
          {platform.kernel} <code class="quiet">{platform.fingerprint}</code>
        </dd>
        <dt>{isComparison ? "comparison" : "run"}</dt>
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
      <dt>minimum effect</dt>
      <dd>{effects.join(", ")}</dd>
      <dt>largest q of a change</dt>
      <dd>{q}</dd>
      {level !== null && (
        <>
          <dt>level of intervals</dt>
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

function Server({ name, server }: { name: string; server: RunReport["server"] }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <code>{server.name}</code> {server.version} {server.commit !== null && <code>{server.commit}</code>}
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
