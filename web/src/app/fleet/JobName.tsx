import type { FleetJob } from "../../core/records.ts";

/** What a job is, with a link to the request that it belongs to. */
export function JobName({ job: { kind, subject, engine, request, path } }: { job: FleetJob }) {
  const words = { build: "build of", trials: "", load: "load for another machine" }[kind];
  return (
    <>
      {words} {subject !== "" && <code>{subject}</code>}
      {engine !== null && ` (${engine})`} of <a href={`/${path}/${request}`}>{request}</a>
    </>
  );
}
