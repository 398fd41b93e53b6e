import { counted } from "../../core/numbers.ts";
import type { FleetRequest, SignedIn } from "../../core/records.ts";
import { HeadSubject } from "../changes/CommitSubject.tsx";
import { triggerUrl } from "../triggers/links.ts";
import { ConfirmedButton } from "./ConfirmedButton.tsx";
import { Moment } from "./Moment.tsx";

/** The newest requests to the fleet, which those who may can end or have carried out again. */
export function RequestTable({
  requests,
  session,
  changed,
}: {
  requests: FleetRequest[];
  session: SignedIn | null;
  changed: () => void;
}) {
  const mayChange = session?.scopes.includes("submit") ?? false;
  return (
    <div class="wide">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">request</th>
            <th scope="col">servers</th>
            <th scope="col">platform</th>
            <th scope="col">state</th>
            <th scope="col">asked for</th>
            <th scope="col">jobs</th>
            {mayChange && <th scope="col">end or repeat</th>}
          </tr>
        </thead>
        <tbody>
          {requests.map((asked) => (
            <tr key={asked.id}>
              <th scope="row">
                <a href={`/${asked.path}/${asked.id}`}>{asked.id}</a>
                <div class="quiet small">
                  {TRIGGER_ID.test(asked.cause) ? (
                    <a href={triggerUrl(asked.cause)}>{asked.cause}</a>
                  ) : (
                    asked.cause
                  )}
                  ,{" "}
                  <abbr title="Jobs of release go first, then those of pull (pull requests), then those of backfill (older commits). A request rises by a level for each 6 hours that it waits.">
                    priority
                  </abbr>{" "}
                  {asked.priority}
                </div>
              </th>
              <td data-heading="servers">
                <code>{asked.sides.join(" → ")}</code>
                <HeadSubject commit={asked.head_commit} />
              </td>
              <td data-heading="platform">{asked.platform}</td>
              <td data-heading="state">
                <b>{asked.state}</b>
                {asked.reason !== "" && <div class="quiet small reason">{asked.reason}</div>}
              </td>
              <td data-heading="asked for">
                <Moment at={asked.submitted} />
              </td>
              <td data-heading="jobs">{jobsText(asked.jobs)}</td>
              {mayChange && (
                <td data-heading="end or repeat">
                  <Change asked={asked} session={session} changed={changed} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What the cause of a request is where a trigger has led to it. */
const TRIGGER_ID = /^t-[0-9a-f]{24}$/;
const REPEATABLE = new Set(["failed", "cancelled", "interrupted"]);

function Change({
  asked,
  session,
  changed,
}: {
  asked: FleetRequest;
  session: SignedIn | null;
  changed: () => void;
}) {
  const isOwn = asked.cause === `asked by ${session?.actor?.toLowerCase()}`;
  if (!isOwn && !session?.scopes.includes("admin")) {
    return null;
  }
  const url = `/api/v1/fleet/requests/${asked.id}`;
  if (asked.is_open) {
    return (
      <ConfirmedButton
        key="cancel"
        label="Cancel"
        question={`End ${asked.id}? Its jobs are stopped, and what was measured is kept.`}
        url={`${url}/cancel`}
        done={changed}
      />
    );
  }
  if (!REPEATABLE.has(asked.state)) {
    return null;
  }
  return (
    <ConfirmedButton
      key="retry"
      label="Retry"
      question={`Have ${asked.id} carried out again? What was measured is kept.`}
      url={`${url}/retry`}
      done={changed}
    />
  );
}

/** Jobs by state; `ready` and `claimed` are words of the queue. */
function jobsText(jobs: FleetRequest["jobs"]): string {
  const words: Record<string, string> = { ready: "waiting", claimed: "under way" };
  const counts = Object.entries(jobs).map(([state, number]) => `${number} ${words[state] ?? state}`);
  return counts.length === 0 ? counted(0, "job", "jobs") : counts.join(", ");
}
