/** What a save in the background costs the clients, over sizes of data. */

import { CopyButton } from "../CopyButton.tsx";
import { Notes, ServerName } from "../cases/facts.tsx";
import { counted, duration } from "../numbers.ts";
import type { SnapshotReport } from "../records.ts";
import { EventChart } from "./EventChart.tsx";
import { SizeChart } from "./SizeChart.tsx";
import {
  cellOf,
  type Load,
  longestOf,
  medianValues,
  repetitionValues,
  shownColumns,
  sizeText,
} from "./snapshot.ts";

const LOADS: Record<Load, string> = { open: "open loop", closed: "closed loop" };

export function SnapshotPage({ report }: { report: SnapshotReport }) {
  return (
    <>
      <Headline report={report} />
      <Charts report={report} />
      <Points report={report} />
      <Reproduction report={report} />
    </>
  );
}

function Headline({ report }: { report: SnapshotReport }) {
  const { reading, server } = report;
  return (
    <header>
      <p class="sides">
        <ServerName server={server} lab={undefined} />{" "}
        {Object.entries(server.config).map(([setting, value]) => (
          <code key={setting}>
            {setting}={value}{" "}
          </code>
        ))}
      </p>
      <h1>{reading?.headline ?? "Snapshots"}</h1>
      <p class="quiet">{reading?.subject}</p>
      <ul>
        {(reading?.sentences ?? []).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <Notes notes={reading?.warnings ?? []} />
    </header>
  );
}

function Charts({ report }: { report: SnapshotReport }) {
  const { loads } = report.settings;
  const [first] = loads;
  return (
    <section>
      <h2>Over sizes of data</h2>
      <div class="pictures">
        {first !== undefined && (
          <SizeChart
            title="Fork"
            label="fork, ms"
            repetitions={repetitionValues(report, "fork_us", loads)}
            medians={medianValues(report, "fork_us", first)}
          />
        )}
        {loads.map((load) => (
          <SizeChart
            key={load}
            title={`Longest latency during the event, ${LOADS[load]}`}
            label="longest latency, ms"
            repetitions={repetitionValues(report, "during_max_us", [load])}
            medians={medianValues(report, "during_max_us", load)}
          />
        ))}
      </div>
      <h2>Around one event at the greatest size</h2>
      <div class="pictures">
        {loads.map((load) => {
          const point = report.points.filter((one) => one.load === load).at(-1);
          return (
            <EventChart
              key={load}
              title={`Longest latency of each hundredth of a second, ${LOADS[load]}`}
              points={longestOf(point?.repetitions[0]?.series ?? [])}
            />
          );
        })}
      </div>
    </section>
  );
}

function Points({ report: { points } }: { report: SnapshotReport }) {
  const columns = shownColumns(points);
  return (
    <section>
      <h2>Medians of the repetitions</h2>
      <div class="wide">
        <table>
          <thead>
            <tr>
              <th scope="col">data</th>
              <th scope="col">load</th>
              {columns.map(({ heading }) => (
                <th key={heading} scope="col" class="number">
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {points.map((point) => (
              <tr key={`${point.size_bytes} ${point.load}`}>
                <th scope="row">{sizeText(point.size_bytes)}</th>
                <td>{point.load}</td>
                {columns.map((column) => {
                  const { text, interval } = cellOf(point, column);
                  return (
                    <td key={column.heading} class="number" title={interval}>
                      {text}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Reproduction({ report }: { report: SnapshotReport }) {
  const { command_line, platform, settings, machine_seconds, created } = report;
  return (
    <section>
      <h2>How to reproduce</h2>
      <pre>{command_line}</pre>
      <CopyButton text={command_line} subject="the command" />
      <dl class="facts">
        <dt>seed</dt>
        <dd>{settings.seed}</dd>
        <dt>platform</dt>
        <dd>
          {platform.name}: {platform.cpu}, {counted(platform.cores, "core", "cores")}, kernel{" "}
          {platform.kernel}
        </dd>
        <dt>measured</dt>
        <dd>
          {created}, in {duration(machine_seconds)}
        </dd>
      </dl>
    </section>
  );
}
