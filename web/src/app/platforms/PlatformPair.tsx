import { useState } from "preact/hooks";
import { OUTCOMES, type Outcome, OutcomeMark } from "../../core/cases/OutcomeMark.tsx";
import { change, counted, interval, metricHeading } from "../../core/numbers.ts";
import type { CaseOnBoth, ListedPlatform, PlatformPair as Pair, PlatformResult } from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { queryUrl, useAnswer } from "../answers.ts";
import { platformQuery } from "../pageQueries.ts";
import { FactValue } from "./FactValue.tsx";
import { factName } from "./facts.ts";
import { platformUrl } from "./PlatformsPage.tsx";

/** Two platforms side by side: the facts that differ, and results of the same builds. */
export function PlatformPair({ fingerprint, other }: { fingerprint: string; other: string }) {
  const answer = useAnswer<Pair>(platformQuery(fingerprint, other));
  return (
    <Answered answer={answer}>
      {(pair) => (
        <>
          <h1>
            {pair.platform.name} and {pair.other.name}
          </h1>
          <p>
            <a href={platformUrl(pair.platform.fingerprint)}>{pair.platform.name}</a>:{" "}
            {inShort(pair.platform)}
            <br />
            <a href={platformUrl(pair.other.fingerprint)}>{pair.other.name}</a>: {inShort(pair.other)}
          </p>
          <section>
            <h2>Facts that differ</h2>
            {pair.facts.length === 0 ? <p>None.</p> : <FactTable pair={pair} />}
            <p class="quiet small">
              {counted(pair.same_facts, "further fact is", "further facts are")} the same.
            </p>
          </section>
          <section>
            <h2>Results of the same commits</h2>
            <p class="quiet">
              Comparisons of the same two commits or builds on both, the newest of each. Both sides show the
              same metric: that which the verdict of {pair.platform.name} rests on, or, where{" "}
              {pair.other.name} has not measured it, that of its verdict.
            </p>
            {pair.cases.length === 0 ? (
              <p>Both have not compared the same two commits or builds lately.</p>
            ) : (
              <Cases pair={pair} />
            )}
            {pair.is_cut && <p class="quiet small">There are more cases; the first are shown.</p>}
          </section>
          <p class="quiet small">
            <a href={queryUrl("platform-pair.csv", { fingerprint, other })} download>
              Results as CSV
            </a>
          </p>
        </>
      )}
    </Answered>
  );
}

function inShort({ cpu, cores, kernel }: ListedPlatform): string {
  return `${cpu}, ${counted(cores, "core", "cores")}, kernel ${kernel}`;
}

function FactTable({ pair: { platform, other, facts } }: { pair: Pair }) {
  return (
    <div class="wide">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">fact</th>
            <th scope="col">{platform.name}</th>
            <th scope="col">{other.name}</th>
          </tr>
        </thead>
        <tbody>
          {facts.map(({ name, before, after }) => (
            <tr key={name}>
              <th scope="row" title={name}>
                {factName(name)}
              </th>
              <td data-heading={platform.name}>
                <FactValue name={name} value={before} />
              </td>
              <td data-heading={other.name}>
                <FactValue name={name} value={after} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The cases, unless all are asked for only those of which the verdicts differ. */
function Cases({ pair }: { pair: Pair }) {
  const [isAll, setAll] = useState(false);
  const { different = 0, invalid = 0, same = 0 } = pair.agreements;
  const shown = isAll ? pair.cases : pair.cases.filter(({ agreement }) => agreement === "different");
  return (
    <>
      <div class="pair">
        <label>
          <input
            type="checkbox"
            checked={!isAll}
            onChange={(event) => setAll(!event.currentTarget.checked)}
          />{" "}
          only where verdicts differ
        </label>
        <span role="status" class="quiet">
          {different.toLocaleString("en-US")} of {(different + invalid + same).toLocaleString("en-US")} differ
          {invalid > 0 && (
            <>
              ;{" "}
              <abbr title="On one platform at least there is no verdict on a change, such as where a check failed.">
                {invalid.toLocaleString("en-US")} invalid
              </abbr>
            </>
          )}
        </span>
      </div>
      {shown.length === 0 ? (
        <p>Both come to the same verdicts.</p>
      ) : (
        <CaseTable platform={pair.platform} other={pair.other} cases={shown} />
      )}
    </>
  );
}

function CaseTable({
  platform,
  other,
  cases,
}: {
  platform: ListedPlatform;
  other: ListedPlatform;
  cases: CaseOnBoth[];
}) {
  return (
    <div class="wide">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">case</th>
            <th scope="col">servers</th>
            <th scope="col">{platform.name}</th>
            <th scope="col">{other.name}</th>
          </tr>
        </thead>
        <tbody>
          {cases.map((both) => (
            <tr
              key={`${both.here.comparison} ${both.case}`}
              class={both.agreement === "different" ? "differs" : undefined}
            >
              <th scope="row">
                {both.case}
                {both.agreement === "different" && <div class="small">≠ the verdicts differ</div>}
                {both.agreement === "invalid" && <div class="small">× no verdict on one of both</div>}
              </th>
              <td data-heading="servers">
                <code>
                  {both.base_name} → {both.head_name}
                </code>
              </td>
              <td data-heading={platform.name}>
                <Result result={both.here} />
              </td>
              <td data-heading={other.name}>
                <Result result={both.there} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Result({ result }: { result: PlatformResult }) {
  const outcome = OUTCOMES.find((known): known is Outcome => known === result.verdict);
  return (
    <>
      <a href={`/comparisons/${result.comparison}`}>
        {outcome === undefined ? (result.verdict ?? "not decided") : <OutcomeMark outcome={outcome} />}
      </a>
      {result.metric !== null && (
        <div class="small">
          <span class="number">{change(result.change)}</span>{" "}
          <span class="quiet number">{interval(result.low, result.high)}</span>{" "}
          <span class="quiet">{metricHeading(result.metric)}</span>
        </div>
      )}
    </>
  );
}
