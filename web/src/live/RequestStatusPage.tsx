import { useEffect } from "preact/hooks";
import type { RequestStatus } from "../records.ts";

const RELOAD_AFTER_MS = 10_000;

/** A request of which nothing was measured yet; the page is loaded again until the request has ended. */
export function RequestStatusPage({ request }: { request: RequestStatus }) {
  const { id, sides, platform, state, has_ended, reasons } = request;
  useEffect(() => {
    if (has_ended) {
      return undefined;
    }
    const timer = setTimeout(() => location.reload(), RELOAD_AFTER_MS);
    return () => clearTimeout(timer);
  }, [has_ended]);
  return (
    <>
      <p class="sides">
        <code>{sides.join(" → ")}</code> <span class="quiet">on the platform {platform}</span>
      </p>
      <h1>{state}</h1>
      <p class="quiet">
        request <code>{id}</code>
      </p>
      {reasons.map((reason) => (
        <pre key={reason}>{reason}</pre>
      ))}
      <p>{has_ended ? "Nothing was measured." : "Nothing was measured yet."}</p>
    </>
  );
}
