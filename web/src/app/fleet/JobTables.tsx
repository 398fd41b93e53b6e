import { useState } from "preact/hooks";
import type { FleetJob, FleetQueue, JobFailure } from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { queryUrl, useAnswer } from "../answers.ts";
import { JobName } from "./JobName.tsx";
import { Moment } from "./Moment.tsx";

/** What waits and what is under way, by platform. */
export function QueueTable({ queues }: { queues: FleetQueue[] }) {
  return (
    <div class="wide">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">platform</th>
            <th scope="col" class="number">
              agents that take jobs
            </th>
            <th scope="col" class="number">
              jobs that wait
            </th>
            <th scope="col" class="number">
              jobs under way
            </th>
            <th scope="col">oldest job, recorded</th>
            <th scope="col">
              <abbr title="The platform whose agents build the servers that this one measures.">
                built by
              </abbr>
            </th>
          </tr>
        </thead>
        <tbody>
          {queues.map(({ platform, builder, agents, waiting, held, oldest }) => (
            <tr key={platform}>
              <th scope="row">{platform}</th>
              <td class="number" data-heading="agents that take jobs">
                {agents === 0 ? <b class="warning">none</b> : agents}
              </td>
              <td class="number" data-heading="jobs that wait">
                {waiting.toLocaleString("en-US")}
              </td>
              <td class="number" data-heading="jobs under way">
                {held.toLocaleString("en-US")}
              </td>
              <td data-heading="oldest job, recorded">
                <Moment at={oldest} />
              </td>
              <td data-heading="built by">{builder}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The jobs that agents hold. */
export function LeaseTable({ held }: { held: FleetJob[] }) {
  return (
    <div class="wide">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">job</th>
            <th scope="col">held by</th>
            <th scope="col">since</th>
            <th scope="col" class="number">
              <abbr title="How often an agent has begun this job: more than once if an agent was lost amid it.">
                begun
              </abbr>
            </th>
            <th scope="col" class="number">
              <abbr title="How often the job was given to the queue of its platform: again, if the queue lost it.">
                given out
              </abbr>
            </th>
          </tr>
        </thead>
        <tbody>
          {held.map((job) => (
            <tr key={job.attempt}>
              <th scope="row">
                <JobName job={job} />
              </th>
              <td data-heading="held by">{job.agent}</td>
              <td data-heading="since">
                <Moment at={job.since} />
              </td>
              <td class="number" data-heading="begun, times">
                {job.starts}
              </td>
              <td class="number" data-heading="given out, times">
                {job.publications}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Jobs that have failed or that no agent could end, with their reasons, and their logs where asked for. */
export function LostTable({ lost }: { lost: FleetJob[] }) {
  return (
    <div class="wide">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">job</th>
            <th scope="col">what became of it</th>
            <th scope="col">ended</th>
            <th scope="col">last agent</th>
            <th scope="col">reason and log</th>
          </tr>
        </thead>
        <tbody>
          {lost.map((job) => (
            <tr key={job.attempt}>
              <th scope="row">
                <JobName job={job} />
              </th>
              <td data-heading="what became of it">
                <span class="failed">
                  <span aria-hidden="true">× </span>
                  {job.state}
                </span>
              </td>
              <td data-heading="ended">
                <Moment at={job.ended} />
              </td>
              <td data-heading="last agent">{job.agent ?? <span class="quiet">none</span>}</td>
              <td data-heading="reason and log" class="reason">
                {job.reason}
                {job.state === "failed" && <Failure job={job.job} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Failure({ job }: { job: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="small">reason and end of the log</summary>
      {isOpen && <FailureText job={job} />}
    </details>
  );
}

function FailureText({ job }: { job: string }) {
  const answer = useAnswer<JobFailure>(queryUrl("job-failure", { job }));
  return (
    <Answered answer={answer}>
      {({ reason, hint, log, is_cut }) => (
        <>
          <p>{reason}</p>
          {hint !== "" && <p class="quiet">{hint}</p>}
          {is_cut && <p class="quiet small">The beginning of the log is left out.</p>}
          {log === "" ? (
            <p class="quiet">It has no log.</p>
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
            <section class="log" tabIndex={0} aria-label="End of the log">
              <pre>{log}</pre>
            </section>
          )}
        </>
      )}
    </Answered>
  );
}
