import { counted } from "../../core/numbers.ts";
import type { ListedChange } from "../../core/records.ts";
import { ChangeTable } from "../changes/ChangeTable.tsx";

/** The regressions and drifts that nobody has accepted and no later commit has made good. */
export function OpenChanges({ changes, count }: { changes: readonly ListedChange[]; count: number }) {
  return (
    <section>
      <h2>Open regressions and drifts</h2>
      {count === 0 ? (
        <p>None: each change for the worse in the histories is accepted, or made good by a later commit.</p>
      ) : (
        <ChangeTable changes={changes} caption="Open regressions and drifts, the largest first" acceptable />
      )}
      {count > changes.length && (
        <p class="quiet small">
          The largest {changes.length} of {counted(count, "open change", "open changes")}.
        </p>
      )}
      {count > 0 && (
        <p class="quiet small">
          A regression is a step at one commit; a drift is many small steps, which no single commit explains.
          What your team has agreed to is accepted with the command of its row, run in the clone of the
          server's repository with the store of this lab; it is listed here no more from the next{" "}
          <code>zerolap history</code> on.
        </p>
      )}
    </section>
  );
}
