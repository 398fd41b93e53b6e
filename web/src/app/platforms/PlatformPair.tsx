import { OUTCOMES, type Outcome, OutcomeMark } from "../../core/cases/OutcomeMark.tsx";
import { change, counted, interval, metricHeading } from "../../core/numbers.ts";
import type {
  CaseOnBoth,
  FactChange,
  ListedPlatform,
  PlatformPair as Pair,
  PlatformResult,
} from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { queryUrl, useAnswer } from "../answers.ts";
import { platformUrl } from "./PlatformsPage.tsx";

/** Two platforms side by side: the facts that differ, and results of the same builds. */
export function PlatformPair({ fingerprint, other }: { fingerprint: string; other: string }) {
  const answer = useAnswer<Pair>(queryUrl("platform-pair", { fingerprint, other }));
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
              Comparisons of the same two commits or builds on both, the newest of each. A change is that of
              the metric that the verdict rests on, which need not be the same one on both.
            </p>
            {pair.cases.length === 0 ? (
              <p>Both have not compared the same two commits or builds lately.</p>
            ) : (
              <CaseTable pair={pair} />
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
  const value = (text: FactChange["before"]) =>
    text === null || text === "" ? <span class="quiet">not known</span> : <code>{text}</code>;
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
              <th scope="row">{name}</th>
              <td data-heading={platform.name}>{value(before)}</td>
              <td data-heading={other.name}>{value(after)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function CaseTable({ pair: { platform, other, cases } }: { pair: Pair }) {
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
            <tr key={`${both.here.comparison} ${both.case}`} class={differ(both) ? "differs" : undefined}>
              <th scope="row">
                {both.case}
                {differ(both) && <div class="small">≠ the verdicts differ</div>}
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

function differ({ here, there }: CaseOnBoth): boolean {
  return here.verdict !== there.verdict;
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
