import type { SweepList } from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { useAnswer } from "../answers.ts";
import { snapshotsQuery } from "../pageQueries.ts";
import type { PageProps } from "../routes.ts";
import { SweepTable } from "./SweepTable.tsx";

/** All sweeps of snapshots that have ended, the newest first. */
export default function SnapshotsPage({ parameters }: PageProps) {
  const answer = useAnswer<SweepList>(snapshotsQuery(parameters));
  return (
    <>
      <h1>Snapshots</h1>
      <p>
        What it costs the clients of a server that it saves in the background, over sizes of data: measured on
        a machine, or counted in an emulated one with a kernel that was built for it.
      </p>
      <Answered answer={answer}>
        {({ sweeps, next_before }) => (
          <>
            {sweeps.length === 0 ? <Nothing /> : <SweepTable sweeps={sweeps} />}
            <nav aria-label="Pages of the list">
              {parameters.has("before") && <a href="/snapshots">newest</a>}{" "}
              {next_before !== null && <a href={`/snapshots?before=${next_before}`}>older</a>}
            </nav>
          </>
        )}
      </Answered>
      <p class="quiet small">
        <a href={snapshotsQuery(parameters, "snapshots.csv")}>CSV</a>
      </p>
    </>
  );
}

function Nothing() {
  return (
    <>
      <p>No sweep has ended yet. This command writes to this lab when it is given its store:</p>
      <pre>zerolap snapshot redis-server</pre>
    </>
  );
}
