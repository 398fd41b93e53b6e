import { change, counted, interval, metricLabel, percent, share } from "../../core/numbers.ts";
import type {
  FactChange,
  FalseAlarm,
  FalseAlarmCount,
  PlatformChange,
  PlatformDetails,
  StartSpread,
} from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { queryUrl, useAnswer } from "../answers.ts";
import { Moment } from "../fleet/Moment.tsx";
import { platformQuery } from "../pageQueries.ts";
import type { PageProps } from "../routes.ts";
import { FactValue } from "./FactValue.tsx";
import { factName } from "./facts.ts";
import { PlatformPair } from "./PlatformPair.tsx";
import "../fleet/fleet.css";
import "./platforms.css";

/** A platform: its facts over time, and how far verdicts of it can be trusted; or two of them side by side. */
export default function PlatformPage({ parts, parameters }: PageProps) {
  const fingerprint = parts.fingerprint ?? "";
  const other = parameters.get("with");
  return other === null ? (
    <Details fingerprint={fingerprint} />
  ) : (
    <PlatformPair fingerprint={fingerprint} other={other} />
  );
}

function Details({ fingerprint }: { fingerprint: string }) {
  const answer = useAnswer<PlatformDetails>(platformQuery(fingerprint, null));
  return (
    <Answered answer={answer}>
      {({ platform, facts, changes, false_alarm_counts, false_alarms, spreads }) => (
        <>
          <h1>{platform.name}</h1>
          <p>
            {platform.cpu}, {counted(platform.cores, "core", "cores")}, kernel {platform.kernel};{" "}
            {counted(platform.reports, "report", "reports")}
          </p>
          <p class="quiet small">
            Its fingerprint, a digest of what identifies the machine, is <code>{platform.fingerprint}</code>.{" "}
            <a href="/platforms">All platforms</a>
          </p>
          <section>
            <h2>What changed</h2>
            <Changes changes={changes} firstSeen={platform.first_seen} />
          </section>
          <section>
            <h2>False alarms</h2>
            <p class="quiet">
              Some cases are timed although nothing in them can have changed. Each change of time that is
              reported for one of them is a false alarm. Counted over the newest 500 comparisons of this
              platform.
            </p>
            <FalseAlarms counts={false_alarm_counts} alarms={false_alarms} />
            <p class="quiet small">
              Not known: whether a change that was reported for changed code is real, and how many real
              changes were missed. Counted work repeats exactly and has no record of this kind.
            </p>
          </section>
          <section>
            <h2>How much starts differ</h2>
            <p class="quiet">
              Every start of a server lies elsewhere in memory, which alone moves its times. The standard
              deviation of starts of one build, pooled over the newest 500 comparisons: verdicts average over
              it.
            </p>
            <Spreads spreads={spreads} />
          </section>
          <section>
            <h2>Facts now</h2>
            <details>
              <summary>{counted(facts.length, "fact", "facts")}</summary>
              <div class="wide">
                <table class="facts">
                  <tbody>
                    {facts.map(({ name, value }) => (
                      <tr key={name}>
                        <th scope="row" title={name}>
                          {factName(name)}
                        </th>
                        <td>
                          <FactValue name={name} value={value} />
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            </details>
          </section>
          <p class="quiet small">
            <a href={queryUrl("platform.csv", { fingerprint })} download>
              Spreads as CSV
            </a>
          </p>
        </>
      )}
    </Answered>
  );
}

function Changes({ changes, firstSeen }: { changes: PlatformChange[]; firstSeen: string }) {
  return (
    <>
      <p class="quiet small">
        Each state of the machine is recorded when it is first seen. A return to an earlier state is not
        shown.
      </p>
      <div class="wide">
        <table class="stacked">
          <thead>
            <tr>
              <th scope="col">seen first</th>
              <th scope="col">what became another</th>
            </tr>
          </thead>
          <tbody>
            {changes.map((state) => (
              <tr key={`${state.first_seen} ${JSON.stringify(state.changes)}`}>
                <th scope="row">
                  <Moment at={state.first_seen} />
                </th>
                <td data-heading="what became another">
                  <ChangedFacts changes={state.changes} />
                </td>
              </tr>
            ))}
            <tr>
              <th scope="row">
                <Moment at={firstSeen} />
              </th>
              <td class="quiet" data-heading="what became another">
                the platform was seen first
              </td>
            </tr>
          </tbody>
        </table>
      </div>
    </>
  );
}

function ChangedFacts({ changes }: { changes: FactChange[] }) {
  return (
    <ul class="plain-list">
      {changes.map(({ name, before, after }) => (
        <li key={name}>
          {factName(name)}: <FactValue name={name} value={before} /> → <FactValue name={name} value={after} />
        </li>
      ))}
    </ul>
  );
}

function FalseAlarms({ counts, alarms }: { counts: FalseAlarmCount[]; alarms: FalseAlarm[] }) {
  if (counts.length === 0) {
    return (
      <p>No case was timed in which nothing can have changed: the record of this platform is not known.</p>
    );
  }
  return (
    <>
      <div class="wide">
        <table class="stacked">
          <thead>
            <tr>
              <th scope="col">kind</th>
              <th scope="col" class="number">
                cases timed
              </th>
              <th scope="col" class="number">
                false alarms
              </th>
              <th scope="col" class="number">
                <abbr title="The share of alarms among the cases, with the interval that holds it with 95 %.">
                  share (95 %)
                </abbr>
              </th>
              <th scope="col" class="number">
                <abbr title="Reported as confirmed: over several placements of the program in memory.">
                  confirmed
                </abbr>
              </th>
              <th scope="col">since</th>
            </tr>
          </thead>
          <tbody>
            {counts.map((count) => (
              <tr key={String(count.same_build)}>
                <th scope="row">
                  {count.same_build
                    ? "one build on both sides"
                    : "two builds whose executed code is identical"}
                </th>
                <td class="number" data-heading="cases timed">
                  {count.timed.toLocaleString("en-US")} in{" "}
                  {counted(count.comparisons, "comparison", "comparisons")}
                </td>
                <td class="number" data-heading="false alarms">
                  {count.alarms.toLocaleString("en-US")}
                </td>
                <td class="number" data-heading="share (95 %)">
                  {percent(count.alarms / count.timed)} ({percent(count.low)} to {percent(count.high)})
                </td>
                <td class="number" data-heading="confirmed">
                  {count.confirmed_alarms.toLocaleString("en-US")}
                </td>
                <td data-heading="since">{count.since.slice(0, 10)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {alarms.length > 0 && <AlarmTable alarms={alarms} />}
    </>
  );
}

function AlarmTable({ alarms }: { alarms: FalseAlarm[] }) {
  return (
    <div class="wide">
      <table class="stacked">
        <caption>The newest false alarms</caption>
        <thead>
          <tr>
            <th scope="col">comparison</th>
            <th scope="col">case</th>
            <th scope="col">reported</th>
            <th scope="col">asked for</th>
          </tr>
        </thead>
        <tbody>
          {alarms.map((alarm) => (
            <tr key={`${alarm.comparison} ${alarm.case}`}>
              <th scope="row">
                <a href={`/comparisons/${alarm.comparison}`}>{alarm.comparison}</a>
              </th>
              <td data-heading="case">{alarm.case}</td>
              <td data-heading="reported">
                <span class={alarm.verdict}>{alarm.verdict}</span>
                {alarm.metric !== null && (
                  <>
                    {" "}
                    of {metricLabel(alarm.metric)}, {change(alarm.change)} {interval(alarm.low, alarm.high)}
                  </>
                )}
                {!alarm.confirmed && <span class="quiet">, not confirmed</span>}
              </td>
              <td data-heading="asked for">
                <Moment at={alarm.created} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Spreads({ spreads }: { spreads: StartSpread[] }) {
  if (spreads.length === 0) {
    return <p>No spread is recorded: nothing was timed in enough starts.</p>;
  }
  const largest = Math.max(...spreads.map((spread) => spread.standard_deviation));
  return (
    <div class="wide">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">metric</th>
            <th scope="col">
              <abbr title="What comparable starts have in common, such as the topology.">circumstances</abbr>
            </th>
            <th scope="col">standard deviation of a start</th>
            <th scope="col" class="number">
              cases
            </th>
          </tr>
        </thead>
        <tbody>
          {spreads.map((spread) => (
            <tr key={`${spread.metric} ${spread.circumstances}`}>
              <th scope="row">{metricLabel(spread.metric)}</th>
              <td data-heading="circumstances">{spread.circumstances}</td>
              <td data-heading="standard deviation of a start">
                <span class="number spread-number">± {share(spread.standard_deviation)}</span>{" "}
                <span
                  class="spread-bar"
                  aria-hidden="true"
                  style={{ width: `${(8 * spread.standard_deviation) / largest}rem` }}
                />
              </td>
              <td class="number" data-heading="cases">
                {spread.spreads.toLocaleString("en-US")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
