/** What a save in the background costs the clients, over sizes of data. */

import { Notes, ServerName } from "../cases/facts.tsx";
import type { LabLinks } from "../cases/labLinks.ts";
import { OutcomeMark } from "../cases/OutcomeMark.tsx";
import { change } from "../numbers.ts";
import type { SnapshotReport } from "../records.ts";
import { EventChart } from "./EventChart.tsx";
import { SizeChart } from "./SizeChart.tsx";
import { SweepReproduction } from "./SweepReproduction.tsx";
import {
  cellOf,
  drawnNames,
  drawnTogether,
  judgedCells,
  type Load,
  longestOf,
  medianValues,
  repetitionValues,
  shownColumns,
  sizeText,
} from "./snapshot.ts";
import { Traces } from "./Traces.tsx";
import { WideTable } from "./WideTable.tsx";

const LOADS: Record<Load, string> = { open: "open loop", closed: "closed loop" };

/** `lab` has the links to other pages, where there are any. */
export function SnapshotPage({ report, lab }: { report: SnapshotReport; lab?: LabLinks }) {
  return (
    <>
      <Headline report={report} lab={lab} />
      {report.verdicts.length > 0 && <Verdicts report={report} />}
      <Charts report={report} />
      <Points report={report} />
      <Traces traces={report.reading?.traces ?? []} />
      <SweepReproduction report={report} />
    </>
  );
}

function Headline({ report, lab }: { report: SnapshotReport; lab: LabLinks | undefined }) {
  const { reading } = report;
  const sides = report.sides.length > 0 ? report.sides : [{ name: "", server: report.server }];
  return (
    <header>
      {sides.map(({ name, server }) => (
        <p class="sides" key={name}>
          {name !== "" && <strong>{name} </strong>}
          <ServerName server={server} lab={lab} />{" "}
          {Object.entries(server.config).map(([setting, value]) => (
            <code key={setting}>
              {setting}={value}{" "}
            </code>
          ))}
        </p>
      ))}
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
        {drawnTogether(report.sides).flatMap((drawn) => {
          const names = drawnNames(drawn);
          const valuesOf = (metric: string, of: Load[], load: Load) =>
            drawn.map(({ side, name }) => ({
              side,
              repetitions: repetitionValues(report, metric, of, name),
              medians: medianValues(report, metric, load, name),
            }));
          return [
            first !== undefined && (
              <SizeChart
                key={`fork ${names}`}
                title={`Fork${names}`}
                label="fork, ms"
                sides={valuesOf("fork_us", loads, first)}
              />
            ),
            ...loads.map((load) => (
              <SizeChart
                key={`${load} ${names}`}
                title={`Longest latency during the event, ${LOADS[load]}${names}`}
                label="longest latency, ms"
                sides={valuesOf("during_max_us", [load], load)}
              />
            )),
          ];
        })}
      </div>
      <h2>Around one event at the greatest size</h2>
      <div class="pictures">
        {(report.sides.length > 0 ? report.sides : [{ name: "" }]).flatMap(({ name }) =>
          loads.map((load) => {
            const point = report.points.filter((one) => one.load === load && one.side === name).at(-1);
            return (
              <EventChart
                key={`${load} ${name}`}
                title={`Longest latency of each hundredth of a second, ${LOADS[load]}${name && `, ${name}`}`}
                points={longestOf(point?.repetitions[0]?.series ?? [])}
              />
            );
          }),
        )}
      </div>
    </section>
  );
}

function Verdicts({ report: { verdicts } }: { report: SnapshotReport }) {
  return (
    <section>
      <h2>Verdicts</h2>
      <WideTable label="Table of the verdicts">
        <table>
          <thead>
            <tr>
              <th scope="col">compared</th>
              <th scope="col">data</th>
              <th scope="col">load</th>
              <th scope="col">metric</th>
              <th scope="col" class="number">
                values
              </th>
              <th scope="col" class="number">
                change
              </th>
              <th scope="col" class="number">
                interval
              </th>
              <th scope="col">verdict</th>
            </tr>
          </thead>
          <tbody>
            {verdicts.flatMap((place) =>
              place.verdicts.map((verdict) => {
                const { label, values, bounds } = judgedCells(verdict);
                return (
                  <tr key={`${place.head} ${place.size_bytes} ${place.load} ${verdict.metric}`}>
                    <th scope="row">
                      {place.base} → {place.head}
                    </th>
                    <td>{sizeText(place.size_bytes)}</td>
                    <td>{place.load}</td>
                    <td>{label}</td>
                    <td class="number">{values}</td>
                    <td class="number">{change(verdict.change)}</td>
                    <td class="number">{bounds}</td>
                    <td>
                      <OutcomeMark outcome={verdict.verdict} />
                    </td>
                  </tr>
                );
              }),
            )}
          </tbody>
        </table>
      </WideTable>
    </section>
  );
}

function Points({ report: { points, sides } }: { report: SnapshotReport }) {
  const columns = shownColumns(points);
  return (
    <section>
      <h2>Medians of the repetitions</h2>
      <WideTable label="Table of the medians">
        <table>
          <thead>
            <tr>
              {sides.length > 0 && <th scope="col">server</th>}
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
              <tr key={`${point.size_bytes} ${point.side} ${point.load}`}>
                {sides.length > 0 && <td>{point.side}</td>}
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
      </WideTable>
    </section>
  );
}
