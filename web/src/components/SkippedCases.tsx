import type { Skipped } from "../document.ts";

/** Cases that were not tried, folded, each with its reason. */
export function SkippedCases({ skipped }: { skipped: Skipped[] }) {
  if (skipped.length === 0) {
    return null;
  }
  return (
    <details>
      <summary>{skipped.length} skipped</summary>
      <ul>
        {skipped.map((one) => (
          <li key={one.case}>
            <code>{one.case}</code> <b>{one.reason}</b>: {one.text}
          </li>
        ))}
      </ul>
    </details>
  );
}
