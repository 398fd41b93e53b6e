import { count, share } from "../numbers.ts";
import type { FunctionCost } from "../run-document.ts";

type Value = "self_cpu_ns_per_op" | "self_instructions_per_op" | "calls_per_op";

const HEADINGS: Record<Value, string> = {
  self_cpu_ns_per_op: "own CPU ns",
  self_instructions_per_op: "own instructions",
  calls_per_op: "calls",
};

/** What a request costs in the functions that cost most, with the columns there are numbers for. */
export function RunFunctions({ functions }: { functions: FunctionCost[] }) {
  const isMeasured = (name: Value) => functions.some((one) => one[name] !== null);
  const values = (Object.keys(HEADINGS) as Value[]).filter(isMeasured);
  return (
    <>
      <h3>Costliest functions, per request</h3>
      <div class="wide">
        <table class="functions">
          <thead>
            <tr>
              <th scope="col">function</th>
              <th scope="col" class="number">
                share of {isMeasured("self_cpu_ns_per_op") ? "CPU time" : "instructions"}
              </th>
              {values.map((name) => (
                <th key={name} scope="col" class="number">
                  {HEADINGS[name]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {functions.map((one) => (
              <tr key={`${one.function}-${one.file}`}>
                <th scope="row">
                  <code>{one.function}</code>{" "}
                  {one.file !== null && <span class="quiet small">{one.file}</span>}
                </th>
                <td class="number">{share(one.share)}</td>
                {values.map((name) => (
                  <td key={name} class="number">
                    {one[name] !== null && count(one[name])}
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
