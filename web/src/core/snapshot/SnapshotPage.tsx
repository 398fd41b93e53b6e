/** What a save in the background costs the clients, over sizes of data. */

import { ServerName } from "../cases/facts.tsx";
import type { LabLinks } from "../cases/labLinks.ts";
import type { MeasuredServer, Sheet as SheetRecord, SnapshotReport } from "../records.ts";
import { Sheet } from "../Sheet.tsx";
import { EventChart } from "./EventChart.tsx";
import { SizeChart } from "./SizeChart.tsx";
import { SweepReproduction } from "./SweepReproduction.tsx";
import {
  drawnNames,
  drawnTogether,
  type Load,
  longestOf,
  medianValues,
  repetitionValues,
} from "./snapshot.ts";

const LOADS: Record<Load, string> = { open: "open loop", closed: "closed loop" };

interface Properties {
  report: SnapshotReport;
  sheet: SheetRecord;
  /** Links to other pages, where there are any. */
  lab?: LabLinks;
}

export function SnapshotPage({ report, sheet, lab }: Properties) {
  const sides = report.sides.length > 0 ? report.sides : [{ name: "", server: report.server }];
  return (
    <>
      {sides.map(({ name, server }) => (
        <SweepServer key={name} name={name} server={server} lab={lab} />
      ))}
      <Sheet sheet={sheet}>
        <Charts report={report} />
      </Sheet>
      <SweepReproduction report={report} />
    </>
  );
}

/** A server of a sweep with its settings. */
export function SweepServer({
  name,
  server,
  lab,
}: {
  name: string;
  server: MeasuredServer;
  lab: LabLinks | undefined;
}) {
  return (
    <p class="sides">
      {name !== "" && <strong>{name} </strong>}
      <ServerName server={server} lab={lab} />{" "}
      {Object.entries(server.config).map(([setting, value]) => (
        <code key={setting}>
          {setting}={value}{" "}
        </code>
      ))}
    </p>
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
                unit="ms"
                sides={valuesOf("fork_us", loads, first)}
              />
            ),
            ...loads.map((load) => (
              <SizeChart
                key={`${load} ${names}`}
                title={`Longest latency during the event, ${LOADS[load]}${names}`}
                unit="ms"
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
