/** A request while it waits and is worked on: told by the lab as it happens, or asked for where that breaks off. */

import { useEffect, useState } from "preact/hooks";
import { counted, duration } from "../../core/numbers.ts";
import type { RequestStatus } from "../../core/records.ts";
import { answerAt, Unanswered, useAnswer } from "../answers.ts";
import { useTitle } from "../navigation.ts";
import { reportQuery, requestQuery } from "../pageQueries.ts";

const AGAIN_AFTER_MS = 5_000;

/** How it stands with a request: none until that is known. Once it has ended, nothing is asked any more. */
function useProgress(id: string): { progress: RequestStatus | null; isUnknown: boolean } {
  const [progress, setProgress] = useState<RequestStatus | null>(null);
  const [isUnknown, setUnknown] = useState(false);
  useEffect(() => {
    setProgress(null);
    setUnknown(false);
    const ending = new AbortController();
    let stream: EventSource | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const take = (status: RequestStatus) => {
      setProgress(status);
      if (status.has_ended) {
        stream?.close();
        stream = null;
      }
    };
    const ask = async () => {
      try {
        const status = await answerAt<RequestStatus>(requestQuery(id), ending.signal);
        take(status);
        if (!status.has_ended && stream === null) {
          listen();
        }
      } catch (fault) {
        if (fault instanceof Unanswered && fault.status === 404) {
          setUnknown(true);
          return;
        }
      }
      if (stream === null && !ending.signal.aborted) {
        timer = setTimeout(ask, AGAIN_AFTER_MS);
      }
    };
    let streams = 0;
    const listen = () => {
      // One that breaks off at once is not opened again and again.
      if (streams++ > 2 || typeof EventSource === "undefined") {
        return;
      }
      stream = new EventSource(`/api/v1/requests/${encodeURIComponent(id)}/events`);
      stream.addEventListener("status", (event) => take(JSON.parse(event.data) as RequestStatus));
      stream.addEventListener("error", () => {
        stream?.close();
        stream = null;
        clearTimeout(timer);
        timer = setTimeout(ask, AGAIN_AFTER_MS);
      });
    };
    void ask();
    return () => {
      ending.abort();
      stream?.close();
      stream = null;
      clearTimeout(timer);
    };
  }, [id]);
  return { progress, isUnknown };
}

/** A comparison or run with how it stands with its request: null until there is something to show. */
export function useReport<Data>(
  kind: "comparison" | "run",
  id: string,
): { progress: RequestStatus | null; isUnknown: boolean; data: Data | null; fault: Unanswered | null } {
  const { progress, isUnknown } = useProgress(id);
  const { data, fault } = useAnswer<Data>(
    progress?.has_report ? reportQuery(kind, id, progress.change) : null,
  );
  return { progress, isUnknown, data, fault };
}

/** A request of which nothing was measured yet, or why there is nothing to show. */
export function RequestPage({
  id,
  noun,
  progress,
  isUnknown,
  fault,
}: {
  id: string;
  noun: "comparison" | "run";
  progress: RequestStatus | null;
  isUnknown: boolean;
  fault: Unanswered | null;
}) {
  useTitle(id);
  if (isUnknown) {
    return (
      <>
        <h1>Not found</h1>
        <p>
          The lab knows no {noun} <code>{id}</code>. <a href="/reports">All comparisons and runs</a>
        </p>
      </>
    );
  }
  if (progress === null) {
    return <p class="quiet waiting">Loading …</p>;
  }
  if (progress.has_report && fault === null) {
    return <p class="quiet waiting">Loading …</p>;
  }
  return (
    <>
      <p class="sides">
        <code>{progress.sides.join(" → ")}</code> {progress.platform !== "" && `on ${progress.platform}`}
      </p>
      <h1>{progress.state}</h1>
      <p class="quiet">
        {noun} <code>{id}</code>
      </p>
      {progress.reasons.map((reason) => (
        <pre key={reason}>{reason}</pre>
      ))}
      {fault !== null && (
        <p class="warning" role="alert">
          {fault.message}
        </p>
      )}
      {progress.has_ended ? (
        fault === null && (
          <p class="downloads">
            It has ended, and there is no report of it. The <a href="/fleet">fleet</a> has its lost jobs with
            their logs.
          </p>
        )
      ) : (
        <ProgressPanel progress={progress} />
      )}
    </>
  );
}

/** How far the work has come, and how long it may still take. */
export function ProgressPanel({ progress }: { progress: RequestStatus }) {
  const { state, cases, cases_asked, jobs, jobs_ended, trials, trials_seconds, seconds_left, reasons } =
    progress;
  return (
    <section class="progress" aria-label="Progress">
      <p role="status">
        <b>{state}</b>: {cases.toLocaleString("en-US")} of {counted(cases_asked, "case", "cases")} with
        results, {counted(trials, "trial", "trials")} done in {duration(trials_seconds)}
        {seconds_left !== null && `; about ${duration(seconds_left)} of trials left, as planned so far`}
      </p>
      <progress
        max={Math.max(jobs, 1)}
        value={jobs_ended}
        aria-label="Jobs that have ended, of those planned"
      >
        {jobs_ended} of {jobs}
      </progress>
      <p class="quiet small">
        {jobs_ended} of {counted(jobs, "planned job", "planned jobs")} ended. More are planned where the first
        do not decide. The page follows by itself.
      </p>
      {reasons.map((reason) => (
        <p key={reason} class="quiet">
          {reason}
        </p>
      ))}
    </section>
  );
}
