import { counted } from "../../core/numbers.ts";
import type { Overview } from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { useAnswer } from "../answers.ts";
import { OVERVIEW } from "../pageQueries.ts";
import { ReportTable } from "../reports/ReportTable.tsx";
import { SweepTable } from "../snapshots/SweepTable.tsx";
import { CommitStrips } from "./CommitStrips.tsx";
import { FirstSteps } from "./FirstSteps.tsx";
import { OpenChanges } from "./OpenChanges.tsx";

const AGAIN_AFTER_MS = 10_000;

/** What there is to look at: the newest results, what is being measured, and how the fleet is. */
export default function OverviewPage() {
  const answer = useAnswer<Overview>(OVERVIEW, AGAIN_AFTER_MS);
  return (
    <>
      <h1>Overview</h1>
      <Answered answer={answer}>
        {(overview) => (overview.is_empty ? <FirstSteps /> : <Shown overview={overview} />)}
      </Answered>
    </>
  );
}

function Shown({ overview }: { overview: Overview }) {
  const { newest, sweeps, open_requests, fleet, strips, open_changes, open_count } = overview;
  return (
    <>
      {strips.length > 0 && <CommitStrips strips={strips} />}
      {strips.length > 0 && <OpenChanges changes={open_changes} count={open_count} />}
      {open_requests.length > 0 && (
        <section>
          <h2>Being measured</h2>
          <ul class="plain-list">
            {open_requests.map(({ id, path, sides, platform, state, reason }) => (
              <li key={id}>
                <a href={`/${path}/${id}`}>{id}</a> <code>{sides.join(" → ")}</code>{" "}
                {platform !== "" && <>on {platform} </>}
                <b>{state}</b> <span class="quiet">{reason}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {newest.length > 0 && (
        <section>
          <h2>Newest results</h2>
          <ReportTable reports={newest} />
          <p>
            <a href="/reports">All reports</a>
          </p>
        </section>
      )}
      {sweeps.length > 0 && (
        <section>
          <h2>Newest snapshots</h2>
          <SweepTable sweeps={sweeps} />
          <p>
            <a href="/snapshots">All snapshots</a>
          </p>
        </section>
      )}
      {fleet.agents > 0 && (
        <p class="quiet">
          {counted(fleet.agents, "agent", "agents")}, {fleet.gone}{" "}
          <abbr title="has not reported for over a minute">gone</abbr>, {fleet.draining} draining,{" "}
          {fleet.refused} refused; {counted(fleet.open_requests, "open request", "open requests")}.{" "}
          <a href="/fleet">Fleet</a>
        </p>
      )}
    </>
  );
}
