import type { ListedSweep } from "../../core/records.ts";

/** Sweeps of snapshots in short, each with a link to its page. */
export function SweepTable({ sweeps }: { sweeps: readonly ListedSweep[] }) {
  return (
    <table class="reports">
      <thead>
        <tr>
          <th scope="col">ended (UTC)</th>
          <th scope="col">sweep</th>
          <th scope="col">servers</th>
          <th scope="col">platform</th>
          <th scope="col">result</th>
        </tr>
      </thead>
      <tbody>
        {sweeps.map(({ id, created, servers, sides, kernel, platform, headline }) => (
          <tr key={id}>
            <td class="quiet">{created.slice(0, 16).replace("T", " ")}</td>
            <th scope="row">
              <a href={`/snapshots/${id}`}>{id}</a>
            </th>
            <td>
              {servers} {kernel !== "" && <span class="quiet">on {kernel} </span>}
              {sides.length > 0 && <code class="small">{sides.join(" → ")}</code>}
            </td>
            <td class="quiet">{platform}</td>
            <td>{headline}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
