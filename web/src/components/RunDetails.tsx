import { FlamePanel } from "../flame/FlamePanel.tsx";
import { count } from "../numbers.ts";
import type { CasePictures } from "../pictures.ts";
import { metricLabel } from "../reading.ts";
import type { RunCase } from "../run-document.ts";
import { Charts } from "./Charts.tsx";
import { CheckList } from "./CheckList.tsx";
import { Failure } from "./Failure.tsx";
import { Figure } from "./Figure.tsx";
import { RunFunctions } from "./RunFunctions.tsx";
import { Sentence } from "./Sentence.tsx";

export function RunDetails({ measured, pictures }: { measured: RunCase; pictures: CasePictures | null }) {
  const { commands, group, topology, metrics, functions, limits, failure, validity } = measured;
  return (
    <div class="detail">
      <p class="quiet">
        {commands.join(", ")} · group {group} · {topology}
      </p>
      {failure !== null && <Failure text={failure} failed />}
      {limits.map((limit) => (
        <p key={limit}>
          <strong>Limits:</strong> <Sentence text={limit} />
        </p>
      ))}
      {pictures?.missing && <p class="warning">No pictures: {pictures.missing}</p>}
      {Object.keys(metrics).length > 0 && <Metrics metrics={metrics} />}
      {functions.length > 0 && <RunFunctions functions={functions} />}
      {pictures?.stacks && <FlamePanel {...pictures.stacks} alone />}
      {pictures !== null && <Charts pictures={pictures} />}
      {validity.checks.length > 0 && <CheckList checks={validity.checks} />}
    </div>
  );
}

function Metrics({ metrics }: { metrics: Record<string, number> }) {
  return (
    <>
      <h3>Metrics</h3>
      <dl class="figures">
        {Object.entries(metrics).map(([name, value]) => (
          <Figure key={name} name={metricLabel(name)} value={count(value)} />
        ))}
      </dl>
    </>
  );
}
