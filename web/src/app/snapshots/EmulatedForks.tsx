/** Forks that were counted in emulated machines, over sizes of data. */

import { Notes, ServerName } from "../../core/cases/facts.tsx";
import { count } from "../../core/numbers.ts";
import type { CountPicture, EmulatedSnapshotReport } from "../../core/records.ts";
import { FigureTable } from "../../core/snapshot/FigureTable.tsx";
import { SweepReproduction } from "../../core/snapshot/SweepReproduction.tsx";
import { sizeText } from "../../core/snapshot/snapshot.ts";
import { LAB_LINKS } from "../comparison/labLinks.ts";

interface Properties {
  report: EmulatedSnapshotReport;
  pictures: readonly CountPicture[];
}

export function EmulatedForks({ report, pictures }: Properties) {
  const { reading, server } = report;
  return (
    <>
      <header>
        <p class="sides">
          <ServerName server={server} lab={LAB_LINKS} />
        </p>
        <h1>{reading?.headline ?? "Forks in emulated machines"}</h1>
        <p class="quiet">{reading?.subject}</p>
        <ul>
          {(reading?.sentences ?? []).map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
        <Notes notes={reading?.warnings ?? []} />
      </header>
      <section>
        <h2>Over sizes of data</h2>
        <div class="pictures">
          {pictures.map(({ name, title, description, svg }) => (
            <figure key={name} class="picture">
              {/* As an image, a picture that the lab has drawn can neither act nor change the page. */}
              <img src={`data:image/svg+xml,${encodeURIComponent(svg)}`} alt={`${title}. ${description}`} />
            </figure>
          ))}
        </div>
      </section>
      {reading?.table && (
        <section>
          <h2>Counts</h2>
          <FigureTable table={reading.table} />
          <p class="quiet small">{reading.units}</p>
        </section>
      )}
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
