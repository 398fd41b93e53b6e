/** Forks that were counted in emulated machines, over sizes of data. */

import type { LabLinks } from "../cases/labLinks.ts";
import { count } from "../numbers.ts";
import type { EmulatedSnapshotReport, Sheet as SheetRecord } from "../records.ts";
import { Sheet } from "../Sheet.tsx";
import { SizeChart } from "./SizeChart.tsx";
import { SweepServer } from "./SnapshotPage.tsx";
import { SweepReproduction } from "./SweepReproduction.tsx";
import { countedValues, drawnNames, drawnTogether, sizeText } from "./snapshot.ts";

const PICTURES = [
  { title: "Instructions of the fork", name: "kernel_fork_ticks", unit: "million instructions" },
  {
    title: "Longest wait of a client",
    name: "wait_server_longest",
    unit: "million instructions of the server",
  },
];

interface Properties {
  report: EmulatedSnapshotReport;
  sheet: SheetRecord;
  /** Links to other pages, where there are any. */
  lab?: LabLinks;
}

export function EmulatedForks({ report, sheet, lab }: Properties) {
  return (
    <>
      <SweepServer name="" server={report.server} lab={lab} />
      <Sheet sheet={sheet}>
        <h2>Over sizes of data</h2>
        <div class="pictures">
          {drawnTogether(report.sides).flatMap((drawn) =>
            PICTURES.map(({ title, name, unit }) => (
              <SizeChart
                key={title + drawnNames(drawn)}
                title={title + drawnNames(drawn)}
                unit={unit}
                sizes="data"
                sides={drawn.map((side) => {
                  const values = countedValues(report, name, side.name);
                  return { side: side.side, repetitions: values, medians: values };
                })}
              />
            )),
          )}
        </div>
      </Sheet>
      <SweepReproduction report={report}>
        <Facts report={report} />
      </SweepReproduction>
    </>
  );
}

/** What the counts depend on, beside the server and the seed. */
function Facts({ report: { kernel, settings, sides } }: { report: EmulatedSnapshotReport }) {
  const config = new Set(
    sides.flatMap((side) => Object.entries(side.config).map(([name, value]) => `${name}=${value}`)),
  );
  return (
    <>
      <dt>kernel</dt>
      <dd>
        Linux {kernel.version} of <code>{kernel.name}</code>
        {kernel.patches.map(({ name, digest }) => (
          <span key={digest}>
            {" "}
            with <code title={digest}>{name}</code>
          </span>
        ))}
        , compiled by {kernel.compiler}; digest <code>{kernel.digest}</code>
      </dd>
      <dt>emulator</dt>
      <dd>
        {settings.emulator}, machine <code>{settings.machine}</code>, processor{" "}
        <code>{settings.processor}</code>
      </dd>
      <dt>data</dt>
      <dd>
        {settings.sizes_bytes.map(sizeText).join(", ")} in values of {count(settings.value_bytes)} bytes
      </dd>
      {config.size > 0 && (
        <>
          <dt>settings</dt>
          <dd>
            {[...config].map((setting) => (
              <code key={setting}>{setting} </code>
            ))}
          </dd>
        </>
      )}
    </>
  );
}
