import type { CaseDrawings } from "../cases/documents.ts";
import { CheckList, Failure, Figure, Sentence } from "../cases/facts.tsx";
import { OutcomeMark } from "../cases/OutcomeMark.tsx";
import { Charts, FlameGraphs } from "../cases/pictures.tsx";
import { change, count, interval, metricLabel, percent, perSide, probability } from "../numbers.ts";
import type { Caller, CaseResult, Finding, Verdict } from "../records.ts";
import { failedOn, outcomeOf, ranked } from "./comparison.ts";

const REMARKS = [
  ["moved", "Moved cost"],
  ["diffuse", "Diffuse"],
  ["cause", "Cause"],
  ["identity", "Code"],
  ["limits", "Limits"],
] as const;

interface Properties {
  result: CaseResult;
  /** Sentences on the work and the time of the case. */
  statements: string[];
  drawings: CaseDrawings | null;
  withPictures: boolean;
}

export function CaseDetails({ result, statements, drawings, withPictures }: Properties) {
  const culprits = ranked(result, "culprit");
  const pictures = withPictures ? drawings : null;
  const sides = failedOn(result);
  return (
    <div class="detail">
      {statements.map((statement) => (
        <p key={statement} class="strong">
          {statement}
        </p>
      ))}
      {result.failure !== null && <Failure text={result.failure} failed={outcomeOf(result) === "failed"} />}
      {sides !== undefined && <p class="warning">The case fails {sides}.</p>}
      <p class="quiet">
        {result.commands.join(", ")} · group {result.group} · {result.topology}
      </p>
      {result.verdicts.length > 0 && <VerdictTable verdicts={result.verdicts} />}
      {result.validity.checks.length > 0 && <CheckList checks={result.validity.checks} />}
      {drawings?.missing && <p class="warning">No charts or flame graph: {drawings.missing}</p>}
      {culprits.length > 0 && <CulpritList culprits={culprits} />}
      {pictures?.stacks && <FlameGraphs source={pictures.stacks} />}
      {REMARKS.flatMap(([kind, label]) =>
        ranked(result, kind).map(({ text }, place) => (
          <p key={`${kind}-${place}`}>
            <strong>{label}:</strong> <Sentence text={text} />
          </p>
        )),
      )}
      {pictures !== null && <Charts drawings={pictures} />}
    </div>
  );
}

function CulpritList({ culprits }: { culprits: Finding[] }) {
  return (
    <>
      <h3>Why it changed</h3>
      <ol class="culprits">
        {culprits.map((finding, place) => (
          <Culprit key={place} finding={finding} />
        ))}
      </ol>
    </>
  );
}

/** The figures of a culprit per request, with their names. */
const COSTS = [
  ["calls_per_op", "calls per request"],
  ["instructions_per_op", "instructions per request, callees included"],
  ["self_instructions_per_op", "self instructions per request"],
  ["cpu_ns_per_op", "CPU ns per request, callees included (sampled)"],
  ["self_cpu_ns_per_op", "self CPU ns per request (sampled)"],
] as const;

function Culprit({ finding }: { finding: Finding }) {
  const { file, lines, share_of_change, callers } = finding;
  const line = lines?.[0];
  return (
    <li>
      <code class="strong">{finding.function ?? "(unknown function)"}</code>{" "}
      {file !== null && <span class="quiet">{line === undefined ? file : `${file}:${line}`}</span>}{" "}
      {finding.in_diff === true && <Badge />}
      <p>
        <Sentence text={finding.text} />
      </p>
      <dl class="figures">
        {share_of_change !== null && (
          <Figure name="share of the change" value={`${Math.round(share_of_change * 100)} %`} />
        )}
        {COSTS.map(
          ([cost, name]) =>
            finding[cost] !== null && <Figure key={cost} name={name} value={perSide(finding[cost])} />,
        )}
      </dl>
      {callers.length > 0 && (
        <p>
          called by <Callers callers={callers} />
        </p>
      )}
    </li>
  );
}

function Callers({ callers }: { callers: Caller[] }) {
  return callers.map((caller, place) => (
    <span key={place}>
      {place > 0 && ", "}
      <code>{caller.function}</code> {perSide(caller.calls_per_op)} {caller.in_diff && <Badge />}
    </span>
  ));
}

function Badge() {
  return <span class="badge">in this change</span>;
}

/** The columns of figures, with what they mean. */
const HEADINGS = [
  ["change", "(head - base) / base of the metric's mean"],
  ["interval", "where the change lies, at the level of intervals below"],
  ["base → head", "the means of both sides"],
  [
    "q",
    "how likely a change this large is by chance, adjusted for all cases and metrics; - where it is the same",
  ],
  ["detectable", "the smallest change that these samples can detect"],
  ["samples", "trials of each side: each starts the server anew"],
] as const;

function VerdictTable({ verdicts }: { verdicts: Verdict[] }) {
  return (
    <>
      <h3>Metrics</h3>
      <div class="wide">
        <table>
          <thead>
            <tr>
              <th scope="col">metric</th>
              <th scope="col">verdict</th>
              {HEADINGS.map(([heading, meaning]) => (
                <th key={heading} scope="col" class="number" title={meaning}>
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {verdicts.map((verdict) => (
              <tr key={`${verdict.engine}-${verdict.metric}`}>
                <th scope="row">
                  {metricLabel(verdict.metric)} <span class="quiet">{verdict.engine}</span>
                </th>
                <td>
                  <OutcomeMark outcome={verdict.verdict} />
                </td>
                <td class="number">{change(verdict.change)}</td>
                <td class="number">{interval(verdict.low, verdict.high)}</td>
                <td class="number">
                  {count(verdict.base)} → {count(verdict.head)}
                </td>
                <td class="number">{probability(verdict.q)}</td>
                <td class="number">{percent(verdict.detectable)}</td>
                <td class="number">{verdict.samples}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <details class="quiet small">
        <summary>What the columns mean</summary>
        <dl>
          {HEADINGS.map(([heading, meaning]) => (
            <div key={heading}>
              <dt>{heading}</dt>
              <dd>{meaning}</dd>
            </div>
          ))}
          <div>
            <dt>line, grey band in the list</dt>
            <dd>the interval of the change; the changes that are smaller than the minimum effect</dd>
          </div>
          <div>
            <dt>work, time</dt>
            <dd>
              what the code does (instructions, system calls, allocations); what its user feels (CPU time,
              throughput, latency)
            </dd>
          </div>
        </dl>
      </details>
    </>
  );
}
