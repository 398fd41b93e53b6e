import { useState } from "preact/hooks";
import type { FleetState } from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { useAnswer } from "../answers.ts";
import { fleetQuery } from "../pageQueries.ts";
import { signInUrl, useSession } from "../signing-in/session.ts";
import { AgentTable } from "./AgentTable.tsx";
import { LeaseTable, LostTable, QueueTable } from "./JobTables.tsx";
import { RequestTable } from "./RequestTable.tsx";
import "./fleet.css";

const AGAIN_AFTER_MS = 10_000;

/** The fleet: what each agent runs and since when, what waits, and what was lost. */
export default function FleetPage() {
  const [asked, askAgain] = useState(0);
  // What was changed here is to be seen at once, though the lab keeps its answers for some seconds.
  const answer = useAnswer<FleetState>(fleetQuery(20 + asked), AGAIN_AFTER_MS);
  const { data: session } = useSession();
  const changed = () => askAgain((count) => (count + 1) % 100);
  return (
    <>
      <h1>Fleet</h1>
      <Answered answer={answer}>
        {({ agents, queues, held, lost, requests }) => (
          <>
            <Rights scopes={session?.scopes ?? null} />
            <section>
              <h2>Agents</h2>
              {agents.length === 0 ? (
                <p>
                  No agent has reported yet. <code>zerolap serve</code> without a fleet measures on its own
                  machine; <code>zerolap fleet init</code> sets a fleet up.
                </p>
              ) : (
                <AgentTable
                  agents={agents}
                  mayDrain={session?.scopes.includes("admin") ?? false}
                  changed={changed}
                />
              )}
            </section>
            <section>
              <h2>Queues</h2>
              <p class="quiet small">
                A job is a build, or the trials of one case by one engine. Each platform has a queue of its
                own.
              </p>
              {queues.length === 0 ? <p>No platform is served.</p> : <QueueTable queues={queues} />}
            </section>
            <section>
              <h2>Jobs under way</h2>
              <p class="quiet small">
                An agent holds a job as long as it reports; if it is silent, the job goes to another agent.
              </p>
              {held.length === 0 ? <p>None.</p> : <LeaseTable held={held} />}
            </section>
            <section>
              <h2>Lost jobs</h2>
              <p class="quiet small">
                The newest jobs that have failed, or were given up because no agent could end them.
              </p>
              {lost.length === 0 ? <p>None.</p> : <LostTable lost={lost} />}
            </section>
            <section>
              <h2>Newest requests</h2>
              {requests.length === 0 ? (
                <p>The fleet was not asked for anything yet.</p>
              ) : (
                <RequestTable requests={requests} session={session} changed={changed} />
              )}
            </section>
          </>
        )}
      </Answered>
      <p class="quiet small">
        <a href="/api/v1/pages/fleet.csv" download>
          Agents as CSV
        </a>
      </p>
    </>
  );
}

/** What is needed to change something, for those who may not. */
function Rights({ scopes }: { scopes: string[] | null }) {
  if (scopes === null || scopes.includes("admin")) {
    return null;
  }
  return (
    <p class="note quiet">
      {scopes.includes("submit")
        ? "You can end and repeat requests that you have asked for. "
        : "To end and repeat requests that you have asked for, "}
      <a href={signInUrl()}>sign in</a> with a token
      {!scopes.includes("submit") && " of the scope submit; for those"}
      {scopes.includes("submit") && " of the scope admin for those"} of others, and to drain agents
      {scopes.includes("submit") ? "." : ", with one of the scope admin."}
    </p>
  );
}
