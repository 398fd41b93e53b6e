import { Figure } from "../../core/cases/facts.tsx";
import { counted } from "../../core/numbers.ts";
import type { MeasuredWorkload } from "../../core/records.ts";

/** What a case sends and stores, as far as the request recorded it. */
export function Workload({ workload }: { workload: MeasuredWorkload }) {
  const { commands, command_count, description } = workload;
  const others = command_count - commands.length;
  return (
    <>
      <h3>What was measured</h3>
      {description !== "" && <p>{description}</p>}
      <pre class="small">
        {commands.map((command, place) => `${timesText(workload, place)}${command}\n`)}
        {others > 0 && `and ${counted(others, "more command", "more commands")}`}
      </pre>
      <dl class="figures">
        {factsOf(workload).map(([name, value]) => (
          <Figure key={name} name={name} value={value} />
        ))}
      </dl>
      {workload.dataset !== "" && (
        <p class="quiet small">
          Before it starts, the server is filled with the data set <code>{workload.dataset}</code>
          {workload.dataset_keys !== null && `: ${counted(workload.dataset_keys, "key", "keys")}`}.
        </p>
      )}
    </>
  );
}

/** How often a command is sent in turn with others. */
function timesText({ ratios }: MeasuredWorkload, place: number): string {
  return ratios.some((ratio) => ratio !== ratios[0]) ? `${ratios[place]} × ` : "";
}

function factsOf(workload: MeasuredWorkload): [string, string][] {
  const { keys, data_bytes, connections, pipeline, companions, config } = workload;
  const settings = Object.entries(config).map(([name, value]) => `${name} ${value}`);
  return [
    ...(keys === "" ? [] : [["keys", keys] satisfies [string, string]]),
    ...(data_bytes === null
      ? []
      : [["size of data", counted(data_bytes, "byte", "bytes")] satisfies [string, string]]),
    ["connections", connections.toLocaleString("en-US")],
    ["requests sent at once (pipeline)", pipeline.toLocaleString("en-US")],
    ...(companions === 0 ? [] : [["other clients beside it", String(companions)] satisfies [string, string]]),
    ...(settings.length === 0
      ? []
      : [["settings of the server", settings.join(", ")] satisfies [string, string]]),
  ];
}
