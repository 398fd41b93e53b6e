import type { Caller, Finding } from "../document.ts";
import { perSide } from "../numbers.ts";
import { Figure } from "./Figure.tsx";
import { Sentence } from "./Sentence.tsx";

export function CulpritList({ culprits }: { culprits: Finding[] }) {
  return (
    <>
      <h3>Why</h3>
      <ol class="culprits">
        {culprits.map((finding) => (
          <Culprit key={`${finding.rank}-${finding.function}-${finding.file}`} finding={finding} />
        ))}
      </ol>
    </>
  );
}

function Culprit({ finding }: { finding: Finding }) {
  return (
    <li>
      <code class="strong">{finding.function ?? "(unknown function)"}</code>{" "}
      {finding.file !== null && <span class="quiet">{location(finding)}</span>}{" "}
      {finding.in_diff === true && <span class="badge">in this change</span>}
      <p>
        <Sentence text={finding.text} />
      </p>
      <dl class="figures">
        {finding.share_of_change !== null && (
          <Figure name="share of the change" value={`${Math.round(finding.share_of_change * 100)} %`} />
        )}
        {finding.calls_per_op !== null && (
          <Figure name="calls per request" value={perSide(finding.calls_per_op)} />
        )}
        {finding.instructions_per_op !== null && (
          <Figure name="instructions per request" value={perSide(finding.instructions_per_op)} />
        )}
        {finding.self_instructions_per_op !== null && (
          <Figure name="of its own" value={perSide(finding.self_instructions_per_op)} />
        )}
        {finding.cpu_ns_per_op !== null && (
          <Figure name="ns per request, sampled" value={perSide(finding.cpu_ns_per_op)} />
        )}
        {finding.self_cpu_ns_per_op !== null && (
          <Figure name="of its own" value={perSide(finding.self_cpu_ns_per_op)} />
        )}
      </dl>
      {finding.callers.length > 0 && (
        <p>
          called by <Callers callers={finding.callers} />
        </p>
      )}
    </li>
  );
}

function Callers({ callers }: { callers: Caller[] }) {
  return callers.map((caller, place) => (
    <span key={`${caller.function}-${caller.file}`}>
      {place > 0 && ", "}
      <code>{caller.function}</code> {perSide(caller.calls_per_op)}{" "}
      {caller.in_diff && <span class="badge">in this change</span>}
    </span>
  ));
}

function location(finding: Finding): string {
  const line = finding.lines?.[0];
  return line === undefined ? `${finding.file}` : `${finding.file}:${line}`;
}
