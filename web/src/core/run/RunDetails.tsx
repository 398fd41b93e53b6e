import type { ComponentChildren } from "preact";
import type { CaseDrawings } from "../cases/documents.ts";
import { CheckList, Failure, Figure, Sentence } from "../cases/facts.tsx";
import { Charts, FlameGraphs } from "../cases/pictures.tsx";
import { count, metricLabel, share } from "../numbers.ts";
import type { FunctionCost, RunCase, Section } from "../records.ts";
import { SheetSection } from "../Sheet.tsx";
import { Word } from "../Word.tsx";
import { runStatement } from "./run.ts";

interface Properties {
  entry: RunCase;
  /** What was traced of it. */
  traced: Section | null;
  drawings: CaseDrawings | null;
  withPictures: boolean;
  /** What is known of the case elsewhere: links to its trials. */
  children?: ComponentChildren;
}

export function RunDetails({ entry, traced, drawings, withPictures, children }: Properties) {
  const { commands, group, topology, metrics, functions, limits, failure, validity } = entry;
  const pictures = withPictures ? drawings : null;
  return (
    <div class="detail">
      {failure === null ? <p class="strong">{runStatement(entry)}</p> : <Failure text={failure} failed />}
      <p class="quiet">
        {commands.join(", ")} · group {group} · {topology}
      </p>
      {Object.keys(metrics).length > 0 && <Metrics metrics={metrics} samples={entry.samples} />}
      {validity.checks.length > 0 && <CheckList checks={validity.checks} />}
      {limits.map((limit) => (
        <p key={limit}>
          <strong>Limits:</strong> <Sentence text={limit} />
        </p>
      ))}
      {drawings?.missing && <p class="warning">No charts or flame graph: {drawings.missing}</p>}
      {functions.length > 0 && <CostliestFunctions functions={functions} />}
      {traced !== null && <SheetSection section={traced} level={4} />}
      {pictures?.stacks && <FlameGraphs source={pictures.stacks} alone />}
      {pictures !== null && <Charts drawings={pictures} />}
      {children}
    </div>
  );
}

function Metrics({ metrics, samples }: Pick<RunCase, "metrics" | "samples">) {
  return (
    <>
      <h3>Metrics</h3>
      <dl class="figures">
        {Object.entries(metrics).map(([metric, value]) => (
          <Figure key={metric} name={metricLabel(metric)} value={count(value)} />
        ))}
      </dl>
      <p class="quiet small">
        Means over the samples, up to {samples} of each <Word of="engine" />. A sample is a{" "}
        <Word of="trial" />, which starts the server anew.
      </p>
    </>
  );
}

const COSTS = [
  ["self_cpu_ns_per_op", "self CPU ns"],
  ["self_instructions_per_op", "self instructions"],
  ["calls_per_op", "calls"],
] as const;

/** The cost of a request in the costliest functions; columns without any value are left out. */
function CostliestFunctions({ functions }: { functions: FunctionCost[] }) {
  const columns = COSTS.filter(([cost]) => functions.some((entry) => entry[cost] !== null));
  const isTimed = columns.some(([cost]) => cost === "self_cpu_ns_per_op");
  return (
    <>
      <h3>Costliest functions, per request</h3>
      <div class="wide">
        <table class="functions">
          <thead>
            <tr>
              <th scope="col">function</th>
              <th scope="col" class="number">
                share of {isTimed ? "CPU time" : "instructions"}
              </th>
              {columns.map(([cost, heading]) => (
                <th key={cost} scope="col" class="number">
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {functions.map((entry, place) => (
              <tr key={place}>
                <th scope="row">
                  <code>{entry.function}</code>{" "}
                  {entry.file !== null && <span class="quiet small">{entry.file}</span>}
                </th>
                <td class="number">{share(entry.share)}</td>
                {columns.map(([cost]) => (
                  <td key={cost} class="number">
                    {entry[cost] !== null && count(entry[cost])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
