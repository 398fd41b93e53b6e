import type { ComponentChildren } from "preact";
import type { CaseDrawings } from "../cases/documents.ts";
import { CheckList, Failure, Figure, Fold, Sentence } from "../cases/facts.tsx";
import { OutcomeMark } from "../cases/OutcomeMark.tsx";
import { Charts, FlameGraphs } from "../cases/pictures.tsx";
import {
  change,
  count,
  counted,
  interval,
  metricLabel,
  metricUnit,
  percent,
  perSide,
  probability,
} from "../numbers.ts";
import type { Caller, CaseResult, Finding, Section, Verdict } from "../records.ts";
import { SheetSection } from "../Sheet.tsx";
import { Word } from "../Word.tsx";
import { type Answered, answersOf, failedOn, outcomeOf, ranked } from "./comparison.ts";
import { IntervalChart, scaleOf } from "./IntervalChart.tsx";

const REMARKS = [
  ["moved", "Moved cost"],
  ["diffuse", "Diffuse"],
  ["cause", "Cause"],
  ["identity", "Code"],
  ["limits", "Limits"],
] as const;

interface Properties {
  result: CaseResult;
  /** What was traced of it. */
  traced: Section | null;
  /** What happened to the case and how sure that is. */
  sentences: string[];
  drawings: CaseDrawings | null;
  withPictures: boolean;
  /** What is known of the case elsewhere: links to its trials. */
  children?: ComponentChildren;
}

/** An open case: what happened, the numbers that decide, the reasons, the pictures; the rest is folded. */
export function CaseDetails({ result, traced, sentences, drawings, withPictures, children }: Properties) {
  const culprits = ranked(result, "culprit");
  const pictures = withPictures ? drawings : null;
  const sides = failedOn(result);
  const [lead, ...others] = sentences;
  return (
    <div class="detail">
      {lead !== undefined && (
        <p class="lead">
          <Sentence text={lead} />
        </p>
      )}
      {others.length > 0 && (
        <p>
          <Sentence text={others.join(" ")} />
        </p>
      )}
      {result.failure !== null && <Failure text={result.failure} failed={outcomeOf(result) === "failed"} />}
      {sides !== undefined && <p class="warning">The case fails {sides}.</p>}
      <DecidingNumbers result={result} />
      {culprits.length > 0 && <CulpritList culprits={culprits} />}
      {REMARKS.flatMap(([kind, label]) =>
        ranked(result, kind).map(({ text }, place) => (
          <p key={`${kind}-${place}`}>
            <strong>{label}:</strong> <Sentence text={text} />
          </p>
        )),
      )}
      {drawings?.missing && <p class="warning">No charts or flame graph: {drawings.missing}</p>}
      {pictures?.stacks && <FlameGraphs source={pictures.stacks} />}
      {pictures !== null && <Charts drawings={pictures} />}
      {traced !== null && <SheetSection section={traced} level={4} />}
      <Evidence result={result} />
      {children}
      <p class="quiet">
        {result.commands.join(", ")} · group {result.group} · <Word of="topology">{result.topology}</Word>
      </p>
    </div>
  );
}

/** What the work and the time of a case rest on. */
function DecidingNumbers({ result }: { result: CaseResult }) {
  const answered = answersOf(result).filter(({ decided }) => decided !== undefined);
  if (answered.length === 0) {
    return null;
  }
  const scale = scaleOf(answered.flatMap(({ decided }) => decided ?? []));
  return (
    <>
      <h3>What decides</h3>
      <div class="deciding">
        {answered.map((answer) => (
          <DecidingNumber key={answer.answer} answered={answer} scale={scale} />
        ))}
      </div>
    </>
  );
}

function DecidingNumber({
  answered: { answer, word, decided },
  scale,
}: {
  answered: Answered;
  scale: ReturnType<typeof scaleOf>;
}) {
  if (decided === undefined) {
    return null;
  }
  const unit = metricUnit(decided.metric);
  return (
    <section>
      <h4>
        <Word of={answer} /> · {metricLabel(decided.metric)} · <OutcomeMark outcome={word} />
      </h4>
      <p>
        <span class="large number">{change(decided.change)}</span>{" "}
        <span class="quiet">
          <Word of="interval" /> {interval(decided.low, decided.high)} %
        </span>
      </p>
      <IntervalChart verdict={decided} scale={scale} outcome={word} />
      <p class="quiet small">
        {count(decided.base)} → {count(decided.head)} {unit}; in the middle of the chart is no change, around
        it the band of the <Word of="minimum effect" />, ±{percent(decided.min_effect)}
      </p>
    </section>
  );
}

/** All metrics and checks. */
function Evidence({ result: { verdicts, validity } }: { result: CaseResult }) {
  const { checks } = validity;
  if (verdicts.length + checks.length === 0) {
    return null;
  }
  const failed = checks.filter(({ ok }) => !ok).length;
  const parts = [
    ...(verdicts.length > 0 ? [counted(verdicts.length, "metric", "metrics")] : []),
    ...(checks.length > 0
      ? [`${counted(checks.length, "check", "checks")}, ${failed === 0 ? "all hold" : `${failed} failed`}`]
      : []),
  ];
  return (
    <Fold summary={`All that was measured: ${parts.join("; ")}`} openAtFirst={failed > 0}>
      {verdicts.length > 0 && <VerdictTable verdicts={verdicts} />}
      {checks.length > 0 && <CheckList checks={checks} />}
    </Fold>
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
  ["self_instructions_per_op", "instructions per request of the function itself"],
  ["cpu_ns_per_op", "CPU ns per request, callees included (sampled)"],
  ["self_cpu_ns_per_op", "CPU ns per request of the function itself (sampled)"],
] as const;

function Culprit({ finding }: { finding: Finding }) {
  const { file, lines, share_of_change, callers, parts } = finding;
  const line = lines?.[0];
  return (
    <li>
      <code class="strong">{finding.function ?? "(unknown function)"}</code>{" "}
      {file !== null && <span class="quiet">{line === undefined ? file : `${file}:${line}`}</span>}{" "}
      {finding.in_diff === true && <Badge />}
      <p>
        <Sentence text={finding.text} />
      </p>
      {parts.length > 0 && (
        <ul>
          {parts.map((part, place) => (
            <li key={place}>
              <Sentence text={part.text} />
            </li>
          ))}
        </ul>
      )}
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
      <code>{caller.function}</code> {perSide(caller.calls_per_op)} times per request{" "}
      {caller.in_diff && <Badge />}
    </span>
  ));
}

function Badge() {
  return <span class="badge">in this change</span>;
}

/** The columns of figures, with the word of the glossary that explains them, and what they mean. */
const HEADINGS = [
  ["change", "estimate", "(head - base) / base of the metric's mean"],
  [
    "interval",
    "interval",
    "where the true change lies, in percent; how sure that is: level of intervals, at the end of the page",
  ],
  ["base → head", "", "the means of both sides, in the unit that the metric names"],
  [
    "q",
    "q",
    "how likely a change this large is by chance, adjusted for all cases and metrics; - where it is the same",
  ],
  ["detectable", "detectable", "the smallest change that these samples can detect"],
  ["samples", "samples", "trials of each side: each starts the server anew"],
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
              {HEADINGS.map(([heading, word, meaning]) => (
                <th key={heading} scope="col" class="number" title={meaning}>
                  <Word of={word}>{heading}</Word>
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
          {HEADINGS.map(([heading, , meaning]) => (
            <div key={heading}>
              <dt>{heading}</dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
      </details>
    </>
  );
}
